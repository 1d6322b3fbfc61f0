import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { bodies } from './orders.ts';

const connections = 16;

const row = (body: string) => `
  insert into inbox (store_id, id, event, entity, dedup, body, headers, received_at, due_at)
  values ('01980000-0000-7000-8000-000000000001', uuidv7(), 'order_updated', 'order:' || gen_random_uuid(),
    decode(replace(gen_random_uuid()::text, '-', '') || '0011223344556677', 'hex'),
    '${body}', '{"content-type": "application/json"}', now(), now())
  on conflict (store_id, dedup) do nothing;`;

/** How pgbench speaks: as it does unless told otherwise, or with statements that are planned once. */
export type Protocol = 'simple' | 'prepared';

const withPgbench = (databaseUrl: string, seconds: number, protocol: Protocol): number => {
  const [body = ''] = bodies('baseline', 1);
  const folder = mkdtempSync(join(tmpdir(), 'pgbench-'));
  const script = join(folder, 'insert.sql');
  // Where a colon stands before a word, pgbench takes that for a variable of its own.
  const literal = body.replaceAll(/:(?=\w)/g, ': ');
  writeFileSync(script, row(literal).replaceAll(/\s*\n\s*/g, ' '));
  const flags = { '-c': connections, '-j': 1, '-T': seconds, '-M': protocol, '-f': script };
  const args = [
    '-n',
    ...Object.entries(flags).flatMap(([flag, value]) => [flag, String(value)]),
    databaseUrl,
  ];
  const { stdout, stderr, status } = spawnSync('pgbench', args, { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  if (status !== 0 || !(perSecond > 0)) throw new Error(`pgbench ended with ${status}: ${stdout}${stderr}`);
  return perSecond;
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

/** Rows a second when each is inserted in a transaction of its own over 16 connections; throws when it can't be told. */
export const baseline = async (
  databaseUrl: string,
  seconds: number,
  protocol: Protocol = 'simple',
): Promise<number> =>
  hasPgbench ? withPgbench(databaseUrl, seconds, protocol) : withDriver(databaseUrl, seconds);
