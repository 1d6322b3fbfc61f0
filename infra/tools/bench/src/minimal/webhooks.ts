import postgres from 'postgres';
import { pgbench } from '../pgbench.ts';
import { bodies } from '../store-webhooks/orders.ts';

/** The least an inbox needs: the body, and a key that keeps a second copy out. */
export const prepareWebhooks = async (url: string): Promise<void> => {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql`create schema if not exists minimal`;
  await sql`drop table if exists minimal.webhook`;
  await sql`create table minimal.webhook (key bytea primary key, body bytea not null)`;
  await sql.end();
};

/** Rows of 1.2 kB per second, one a transaction, over 16 connections with prepared statements. */
export const minimalWebhooks = (url: string, seconds: number): Promise<number> => {
  const [body = ''] = bodies('minimal', 1);
  // pgbench reads a colon before a word as one of its variables.
  const text = body.replaceAll(/:(?=\w)/g, ': ');
  const script = `insert into minimal.webhook values (uuid_send(gen_random_uuid()), '${text}') on conflict do nothing;\n`;
  return pgbench(url, { script, connections: 16, seconds, protocol: 'prepared' });
};
