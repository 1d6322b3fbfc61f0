import { readFileSync } from 'node:fs';
import type { Sql } from 'postgres';
import { startProgram } from '../program.ts';
import { shippedOptions, startDatabase, type BenchService } from '../service.ts';
import { secret } from '../subjects/wallet-operator.ts';
import type { PlainSettings } from './plain.ts';

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
