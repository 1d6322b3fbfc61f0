import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

test('a batch reads only the rows it names, also when its plan was made on empty tables', async () => {
  await using service = await startService({ variables: { DATABASE_POOL: '1' } });
  const { sql } = service.context.database;
  await addGame(sql);
  const players = await Promise.all(Array.from({ length: 20 }, () => addPlayer(sql)));
  // Statistics of empty tables: the worst time to create a plan that is kept.
  await sql`analyze`;
  const rounds = 40;
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      players.map(async (playerId) => {
        const caller = callerOf(service, playerId);
        const [roundId, transactionId] = [randomUUID(), randomUUID()];
        expect((await caller.debit({ roundId, transactionId, amount: '1.00' })).status).toBe('OK');
        const end = { roundId, amount: '1.00', roundClosed: true, reverseTransactionId: transactionId };
        expect((await (round % 2 ? caller.credit(end) : caller.rollback(end))).status).toBe('OK');
      }),
    );
  }
  await sql`select pg_stat_force_next_flush()`;
  await sleep(50);
  const read = await sql<{ table: string; rows: number }[]>`
    select relname as table, (idx_tup_fetch + seq_tup_read)::int as rows from pg_stat_user_tables
    where relname in ('rounds', 'entries')`;
  const callbacks = rounds * players.length * 2;
  expect(read).toHaveLength(2);
  // A scan for each item would be hundreds of times this.
  for (const { rows, table } of read) expect(rows, table).toBeLessThan(callbacks * 4);
  await expectSoundLedger(service);
});
