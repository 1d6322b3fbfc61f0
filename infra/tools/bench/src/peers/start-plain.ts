import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Sql } from 'postgres';
import { inherited } from '../env.ts';
import { shippedOptions, startDatabase, type BenchService } from '../service.ts';
import { secret } from '../subjects/wallet-operator.ts';
import type { PlainSettings } from './plain.ts';

export interface Program extends AsyncDisposable {
  url: string;
}

/**
 * Starts a baseline that is written in TypeScript, as a process of its own with the Node options of the image.
 * @param argument what the program gets as its first argument
 * @returns the address that it prints when it is ready
 * @throws when it ends before
 */
const startProgram = async (file: URL, argument: string, nodeOptions: string): Promise<Program> => {
  const child = spawn(process.execPath, [file.pathname, argument], {
    env: { ...inherited, NODE_ENV: 'production', NODE_OPTIONS: nodeOptions },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [address] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number | null];
  if (!(address instanceof Buffer)) throw new Error(`${file.pathname} ended before it was ready`);
  return {
    url: address.toString().trim(),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
};

/** Copies the columns that both tables have, in batches of rows. */
const copyRows = async (from: Sql, to: Sql, table: string): Promise<void> => {
  const rows = from<{ row: object }[]>`select to_json(t) as row from ${from(table)} t`;
  await rows.cursor(10_000, async (some) => {
    const text = JSON.stringify(some.map(({ row }) => row));
    await to`insert into ${to(table)} select * from json_populate_recordset(null::${to(table)}, ${text}::text::json)`;
  });
};

/**
 * Starts the plain service with a PostgreSQL of its own, which is set up like that of the service.
 * @param tables whose rows are copied from the service
 */
export const startPlain = async ({ keys, sql }: BenchService, tables: readonly string[]) => {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startDatabase());
  await database.sql.unsafe(readFileSync(new URL('plain.sql', import.meta.url), 'utf8'));
  for (const table of tables) await copyRows(sql, database.sql, table);
  await database.sql`vacuum analyze`;
  const { jwks, issuer, audience } = keys;
  const settings: PlainSettings = { databaseUrl: database.url, hmacSecret: secret, jwks, issuer, audience };
  const file = new URL('plain.ts', import.meta.url);
  const { url } = stack.use(await startProgram(file, JSON.stringify(settings), shippedOptions()));
  const owned = stack.move();
  return { url, sql: database.sql, [Symbol.asyncDispose]: () => owned.disposeAsync() };
};
