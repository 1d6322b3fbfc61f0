import { randomBytes, randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { hasPgbench, pgbench, type Protocol } from '../pgbench.ts';
import { bodies } from './orders.ts';

const connections = 16;

const row = (body: string) => `
  insert into inbox (store_id, id, event, entity, dedup, body, headers, received_at, due_at)
  values ('01980000-0000-7000-8000-000000000001', uuidv7(), 'order_updated', 'order:' || gen_random_uuid(),
    decode(replace(gen_random_uuid()::text, '-', '') || '0011223344556677', 'hex'),
    '${body}', '{"content-type": "application/json"}', now(), now())
  on conflict (store_id, dedup) do nothing;`;

const withPgbench = (databaseUrl: string, seconds: number, protocol: Protocol): Promise<number> => {
  const [body = ''] = bodies('baseline', 1);
  // Where a colon stands before a word, pgbench takes that for a variable of its own.
  const script = row(body.replaceAll(/:(?=\w)/g, ': ')).replaceAll(/\s*\n\s*/g, ' ');
  return pgbench(databaseUrl, { script, connections, seconds, protocol });
};

const withDriver = async (databaseUrl: string, seconds: number): Promise<number> => {
  const sql = postgres(databaseUrl, { max: connections });
  const [body = ''] = bodies('baseline', 1);
  const until = performance.now() + seconds * 1000;
  let count = 0;
  const connection = async (): Promise<void> => {
    for (; performance.now() < until; count++) {
      await sql`
        insert into inbox (store_id, id, event, entity, dedup, body, headers, received_at, due_at)
        values ('01980000-0000-7000-8000-000000000001', uuidv7(), 'order_updated', ${`order:${randomUUID()}`},
          ${randomBytes(24)}, ${Buffer.from(body)}, '{"content-type": "application/json"}', now(), now())
        on conflict (store_id, dedup) do nothing`;
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  await sql.end();
  return count / seconds;
};

/** Rows a second when each is inserted in a transaction of its own over 16 connections; throws when it can't be told. */
export const baseline = (
  databaseUrl: string,
  seconds: number,
  protocol: Protocol = 'simple',
): Promise<number> =>
  hasPgbench ? withPgbench(databaseUrl, seconds, protocol) : withDriver(databaseUrl, seconds);
