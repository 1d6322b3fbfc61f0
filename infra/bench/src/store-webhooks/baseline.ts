import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { bodies } from './orders.ts';

const connections = 16;

const row = (body: string, quote: (text: string) => string) => `
  insert into inbox (store_id, id, event, entity, dedup, body, headers, received_at, due_at)
  values ('01980000-0000-7000-8000-000000000001', uuidv7(), 'order_updated', 'order:' || gen_random_uuid(),
    decode(replace(gen_random_uuid()::text, '-', '') || '0011223344556677', 'hex'),
    ${quote(body)}, '{"content-type": "application/json"}', now(), now())
  on conflict (store_id, dedup) do nothing;`;

const withPgbench = (databaseUrl: string, seconds: number): number => {
  const [body = ''] = bodies('baseline', 1);
  const folder = mkdtempSync(join(tmpdir(), 'pgbench-'));
  const script = join(folder, 'insert.sql');
  const sql = row(body, (text) => `'${text.replaceAll("'", "''")}'`);
  writeFileSync(script, sql.replaceAll(/\s*\n\s*/g, ' '));
  const flags = [
    '-n',
    '-c',
    String(connections),
    '-j',
    '1',
    '-T',
    String(seconds),
    '-M',
    'prepared',
    '-f',
    script,
  ];
  const { stdout } = spawnSync('pgbench', [...flags, databaseUrl], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
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

const hasPgbench = spawnSync('pgbench', ['--version']).error === undefined;

export const baselineProgram = hasPgbench ? 'pgbench' : 'postgres.js';

/** Rows a second when each is inserted in a transaction of its own over 16 connections. */
export const baseline = async (databaseUrl: string, seconds: number): Promise<number> =>
  hasPgbench ? withPgbench(databaseUrl, seconds) : withDriver(databaseUrl, seconds);
