import { setImmediate as nextTurn } from 'node:timers/promises';
import { freePort } from '@platform/local/ports';
import { drizzle } from 'drizzle-orm/postgres-js';
import connect from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { findPayments } from './queries.ts';

test('if the database is unavailable, looking up a payment rejects once and leaves no unhandled rejection', async () => {
  const sql = connect(`postgres://nobody@127.0.0.1:${await freePort()}/none`, { max: 2 });
  const unhandled: unknown[] = [];
  const collect = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', collect);
  onTestFinished(async () => {
    process.off('unhandledRejection', collect);
    await sql.end({ timeout: 0 });
  });
  await expect(findPayments(drizzle(sql), 's', 'threedsecureio', ['t-1'], 'tds-1')).rejects.toMatchObject({
    cause: { code: 'ECONNREFUSED' },
  });
  await nextTurn();
  expect(unhandled).toEqual([]);
});
