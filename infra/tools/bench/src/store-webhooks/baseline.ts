import { pgbench, type Protocol } from '../pgbench.ts';
import { bodies } from './orders.ts';

const connections = 16;

const row = (body: string) => `
  insert into events (store_id, id, event, entity, dedup, body, headers, received_at)
  values ('01980000-0000-7000-8000-000000000001', uuidv7(), 'order_updated', 'order:' || gen_random_uuid(),
    decode(replace(gen_random_uuid()::text, '-', '') || '0011223344556677', 'hex'),
    '${body}', '{"content-type": "application/json"}', now())
  on conflict (store_id, dedup) do nothing;`;

/** Rows per second when each is inserted in a transaction of its own over 16 connections. */
export const baseline = (
  databaseUrl: string,
  seconds: number,
  protocol: Protocol = 'simple',
): Promise<number> => {
  const [body = ''] = bodies('baseline', 1);
  // pgbench reads a colon before a word as one of its variables.
  const script = row(body.replaceAll(/:(?=\w)/g, ': ')).replaceAll(/\s*\n\s*/g, ' ');
  return pgbench(databaseUrl, { script, connections, seconds, protocol });
};
