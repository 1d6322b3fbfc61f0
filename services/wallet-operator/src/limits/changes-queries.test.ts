import { cloneDatabase } from '@platform/service-kit/testing';
import postgres, { type ISql, type Sql } from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { addPlayer } from '../../test/factories.ts';
import { expectSoundLedger } from '../../test/proof.ts';
import { migrations } from '../context.ts';
import { commitCommands } from '../ledger/commit-commands.ts';
import type { Policy } from '../ledger/command.ts';
import { changeLimits, lockPlayer } from './changes-queries.ts';
import { usedOf } from './domain.ts';
import { readLimits } from './counters.ts';

const sessionBreakS = 1800;
const policy: Policy = {
  rollbackAfterClose: 'reverse',
  creditUnknownRound: 'accept',
  sessions: 'optional',
  transactionIds: 'global',
  limitStatus: 'ERROR_NOT_ENOUGH_MONEY',
  sessionBreakS,
  sessionTtlS: 3600,
  sessionMaxS: 43_200,
};
const stack = new AsyncDisposableStack();
let sql: Sql;
beforeAll(async () => {
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  sql = postgres(database.url, { max: 4, onnotice: () => undefined });
  stack.defer(() => sql.end());
});
afterAll(() => stack.disposeAsync());

const setLimit = async (tx: ISql, playerId: string, value: bigint): Promise<Date> => {
  const now = await lockPlayer(tx, playerId);
  if (now === undefined) throw new Error('the player does not exist');
  const request = { playerId, setBy: 'player' as const, by: 'test', now };
  await changeLimits(tx, request, [{ kind: 'wager', period: '7d', value }], sessionBreakS);
  return now;
};

/** Debits of 1.00, a second apart, until `daysAgo`. */
const addDebits = (playerId: string, count: number, daysAgo: number) => sql`
  with added as (
    insert into entries (player_id, seq, operation, transaction_id, round_id, game_code, amount, balance_after, at, id_space)
    select player_id, seq + n, 'debit', player_id || (seq + n), 'r', 'dice', -100, balance - n * 100,
      now() - make_interval(days => ${daysAgo}, secs => ${count} - n), 'game'
    from players, generate_series(1, ${count}::int) n where player_id = ${playerId} returning seq, balance_after
  ) update players set seq = (select max(seq) from added), balance = (select min(balance_after) from added)
  where player_id = ${playerId}`;

const rollBack = async (playerId: string, reversedSeq: number): Promise<void> => {
  const reverses = `${playerId}${reversedSeq}`;
  const round = { roundId: 'r', gameCode: 'dice', roundClosed: false };
  const command = {
    ...round,
    operation: 'rollback' as const,
    playerId,
    transactionId: `x${reverses}`,
    reverses,
  };
  const [outcome] = await commitCommands(sql, [command], undefined, policy);
  expect(outcome).toMatchObject({ status: 'OK' });
};

test('the first limit reads no entries from before its periods, and counts right also when these are reversed later', async () => {
  const playerId = await addPlayer(sql, { balance: 1_000_000 });
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update entries set at = '2016-01-01'`;
  });
  await addDebits(playerId, 3000, 100);
  await addDebits(playerId, 10, 0);
  // Before the limit, one of the ten.
  await rollBack(playerId, 3005);
  await sql`analyze entries`;
  const reads = async (tx: ISql): Promise<number> => {
    const [row] = await tx<{ count: number }[]>`
      select (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as count from pg_stat_xact_user_tables
      where relname = 'entries'`;
    return row?.count ?? 0;
  };
  const read = await sql.begin(async (tx) => {
    // The table of a test is so small that reading all of it would be cheaper.
    await tx`set local enable_seqscan = off`;
    const before = await reads(tx);
    await setLimit(tx, playerId, 5000n);
    return (await reads(tx)) - before;
  });
  expect(read).toBeLessThan(300);
  const used = async () => {
    const player = (await readLimits(sql, [playerId], new Date(), sessionBreakS)).get(playerId);
    return player?.limits.map((limit) => usedOf(player, limit));
  };
  expect(await used()).toEqual([900n]);
  await rollBack(playerId, 2);
  expect(await used()).toEqual([900n]);
  await rollBack(playerId, 3006);
  expect(await used()).toEqual([800n]);
  await expectSoundLedger({ sql });
});

test('a change of a limit can be cancelled once, and is never changed or removed in another way', async () => {
  const playerId = await addPlayer(sql);
  await sql.begin(async (tx) => setLimit(tx, playerId, 5000n));
  for (const change of [
    'set value = 1',
    'set cancelled_at = now(), value = 1',
    'set effective_at = now()',
    'set cancelled_at = null',
  ])
    await expect(sql.unsafe(`update limit_changes ${change}`), change).rejects.toThrow(
      'never changed or removed',
    );
  await sql`update limit_changes set cancelled_at = now() where player_id = ${playerId}`;
  for (const statement of [
    'update limit_changes set cancelled_at = null',
    'update limit_changes set cancelled_at = now()',
    'delete from limit_changes',
    'truncate limit_changes',
  ])
    await expect(sql.unsafe(statement), statement).rejects.toThrow('never changed or removed');
});
