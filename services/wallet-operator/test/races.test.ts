import { randomUUID } from 'node:crypto';
import { createMetrics } from '@platform/service-kit/metrics';
import { expect, test } from 'vitest';
import { createContext } from '../src/context.ts';
import type { Command } from '../src/ledger/command.ts';
import { openLedger, type Ledger } from '../src/ledger/ledger.ts';
import { addGame, addPlayer } from './factories.ts';
import { startService } from './harness.ts';
import { holdPlayer } from './hold-player.ts';
import { expectSoundLedger } from './proof.ts';

const openLedgerOf = (databaseUrl: string): Ledger =>
  openLedger({
    databaseUrl,
    policy: {
      rollbackAfterClose: 'reverse',
      creditUnknownRound: 'accept',
      sessions: 'optional',
      transactionIds: 'global',
      limitStatus: 'ERROR_NOT_ENOUGH_MONEY',
      sessionBreakS: 1800,
      sessionTtlS: 3600,
      sessionMaxS: 43_200,
    },
    maxQueue: 100,
    maxInFlight: 2,
    maxWaitMs: 60_000,
    // PostgreSQL grants a lock in the order in which it was asked for.
    lockTimeoutMs: 60_000,
  });

/** Lets two processes ask at the same instant, in a forced order: both wait for a player that a third one holds. */
const race = async (order: readonly ('debit' | 'rollback' | 'end')[], { roundIsOpen = false } = {}) => {
  await using service = await startService();
  const { sql } = service.context.database;
  await using one = openLedgerOf(service.databaseUrl);
  await using other = openLedgerOf(service.databaseUrl);
  const gameCode = await addGame(sql);
  const playerId = await addPlayer(sql);
  const [transactionId, roundId] = [randomUUID(), randomUUID()];
  const common = { playerId, roundId, gameCode };
  const commands: Record<string, Command> = {
    debit: { ...common, operation: 'debit', transactionId, amount: 1000 },
    rollback: {
      ...common,
      operation: 'rollback',
      transactionId: randomUUID(),
      reverses: transactionId,
      roundClosed: false,
    },
    end: { ...common, operation: 'credit', transactionId: randomUUID(), amount: 0, roundClosed: true },
  };
  if (roundIsOpen) await sql`insert into rounds values (${playerId}, ${roundId}, ${gameCode}, now())`;
  const waitingForLocks = async () => {
    const [row] = await sql`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row?.['count'] as number;
  };
  for (const ledger of [one, other]) await ledger.claimScope();
  const holder = await holdPlayer(service.databaseUrl, playerId);
  const asked: ReturnType<Ledger['add']>[] = [];
  for (const [at, name] of order.entries()) {
    const command = commands[name];
    if (command) asked.push((at === 0 ? one : other).add(command));
    await expect.poll(waitingForLocks, { interval: 5 }).toBe(at + 1);
  }
  await holder.release();
  const results = await Promise.all(asked);
  await expectSoundLedger(service);
  return results.map(({ status, balance }) => `${status} ${balance ?? '-'}`);
};

test('debit before its rollback: taken and given back', async () => {
  expect(await race(['debit', 'rollback'])).toEqual(['OK 99000', 'OK 100000']);
});

test('rollback before its debit: nothing to give back, and the debit comes too late', async () => {
  expect(await race(['rollback', 'debit'])).toEqual(['OK 100000', 'ERROR_UNKNOWN -']);
});

test.each([true, false])(
  'the end of a round before its debit, round known before: %s; the debit comes too late',
  async (roundIsOpen) => {
    expect(await race(['end', 'debit'], { roundIsOpen })).toEqual(['OK 100000', 'ERROR_UNKNOWN -']);
  },
);

test.each([true, false])(
  'a debit before the end of its round, round known before: %s; both are accepted',
  async (roundIsOpen) => {
    expect(await race(['debit', 'end'], { roundIsOpen })).toEqual(['OK 99000', 'OK 99000']);
  },
);

test('one debit in two processes: applied once, both get the same answer', async () => {
  expect(await race(['debit', 'debit'])).toEqual(['OK 99000', 'OK 99000']);
});

test('one transactionId from two players at once: one of them has it, the other gets a duplicate', async () => {
  await using service = await startService();
  const { log, database, env } = service.context;
  await using other = createContext(env, { log, metrics: createMetrics() });
  const gameCode = await addGame(database.sql);
  const players = [await addPlayer(database.sql), await addPlayer(database.sql)];
  for (let round = 0; round < 30; round++) {
    const ids = { transactionId: randomUUID(), roundId: randomUUID() };
    const outcomes = await Promise.all(
      players.map((playerId, at) =>
        (at === 0 ? service.context : other).ledger.add({
          operation: 'debit',
          playerId,
          ...ids,
          gameCode,
          amount: 1,
        }),
      ),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['ERROR_DUPLICATE_TRANSACTION', 'OK']);
  }
  await expectSoundLedger(service);
});

test('batches of two processes with several debits of the same players, in opposite orders, never deadlock', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const gameCode = await addGame(sql);
  const players = await Promise.all(Array.from({ length: 8 }, () => addPlayer(sql)));
  const debitsOf = (order: readonly string[]): Command[] =>
    [...order, ...order].map((playerId) => {
      const [transactionId, roundId] = [randomUUID(), randomUUID()];
      return { operation: 'debit', playerId, transactionId, roundId, gameCode, amount: 1 };
    });
  const rounds = 40;
  {
    await using one = openLedgerOf(service.databaseUrl);
    await using other = openLedgerOf(service.databaseUrl);
    for (let round = 0; round < rounds; round++) {
      const asked = [
        ...debitsOf(players).map((debit) => one.add(debit)),
        ...debitsOf(players.toReversed()).map((debit) => other.add(debit)),
      ];
      for (const { status } of await Promise.all(asked)) expect(status).toBe('OK');
    }
  }
  const balances = await sql<{ balance: string }[]>`select distinct balance from players`;
  expect(balances).toEqual([{ balance: String(100_000 - 4 * rounds) }]);
  // Connections report what they counted when they close.
  const [row] = await sql`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  expect(row).toEqual({ deadlocks: 0 });
  await expectSoundLedger(service);
});
