import postgres from 'postgres';
import { expect, inject, onTestFinished, test } from 'vitest';

const connect = () => {
  const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => undefined });
  onTestFinished(() => sql.end());
  return sql;
};

/** SQL of rows of 10 kB, so that some arrive before the end. */
const rowsUntil = (last: string) => `
  select repeat('x', 10000), case when n = 500 then ${last} end from generate_series(1, 500) n`;

/** Checks our patch of postgres.js, which added the rows of a failed statement to the next one. */
test.each([
  ['fails', rowsUntil('(1 / (n - 500))::text'), undefined],
  ['times out', rowsUntil('pg_sleep(60)::text'), undefined],
  ['is cancelled', rowsUntil('pg_sleep(60)::text'), 200],
])(
  'a statement that %s in the middle of its rows leaves none to the next one on its connection',
  async (_, text, cancelAfterMs) => {
    const sql = connect();
    await sql`select set_config('statement_timeout', ${cancelAfterMs === undefined ? '500' : '0'}, false)`;
    const query = sql.unsafe(text).execute();
    if (cancelAfterMs !== undefined) setTimeout(() => query.cancel(), cancelAfterMs);
    await expect(query).rejects.toThrow(/22012|canceling statement/);
    const next = await sql`select 1 as one`;
    expect([...next]).toEqual([{ one: 1 }]);
  },
);
