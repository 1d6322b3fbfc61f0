import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger } from '../src/ledger/ledger.ts';
import type { Wanted } from '../src/limits/changes.ts';
import { changeLimits, lockPlayer } from '../src/limits/changes-queries.ts';
import { addGame, addPlayer } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { createLimitsModel } from './limits-model.ts';
import { expectSoundLedger } from './proof.ts';

const boundary = Date.parse('2026-06-15T12:00:00.000Z');
const dayMs = 86_400_000;

let service: Running;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
});

/** A ledger whose batches begin at the time that each debit gives, and a player with a limit of 10.00 on bets. */
const limited = async (limits: Wanted[] = [{ kind: 'wager', period: '24h', value: 1000n }]) => {
  const { sql } = service.context.database;
  const playerId = await addPlayer(sql);
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update entries set at = '2026-01-01' where player_id = ${playerId}`;
  });
  let now = boundary - dayMs - 60_000;
  const { TRANSACTION_ID_SCOPE: transactionIds, SESSION_BREAK_S: sessionBreakS } = service.context.env;
  const ledger = openLedger({
    databaseUrl: service.databaseUrl,
    maxQueue: 100,
    maxInFlight: 1,
    maxWaitMs: 20_000,
    now: () => new Date(now),
    policy: {
      rollbackAfterClose: 'reverse',
      creditUnknownRound: 'accept',
      sessions: 'optional',
      limitStatus: 'ERROR_NOT_ENOUGH_MONEY',
      transactionIds,
      sessionBreakS,
      sessionTtlS: 3600,
      sessionMaxS: 43_200,
    },
  });
  await sql.begin(async (tx) => {
    await lockPlayer(tx, playerId);
    const request = { playerId, setBy: 'player', by: 'ann', now: new Date(now) } as const;
    await changeLimits(tx, request, limits, sessionBreakS);
  });
  return {
    playerId,
    ledger,
    debit: async (at: number, amount: number) => {
      now = at;
      const { status } = await ledger.add({
        operation: 'debit',
        playerId,
        transactionId: randomUUID(),
        roundId: randomUUID(),
        gameCode: 'dice-alpha',
        amount,
      });
      return status === 'OK';
    },
    deposit: async (at: number, amount: number) => {
      now = at;
      const { status } = await ledger.add({
        operation: 'deposit',
        playerId,
        transactionId: randomUUID(),
        amount,
      });
      return status === 'OK';
    },
    entries: () => sql<{ at: string; amount: string }[]>`
      select at::text, amount::text from entries where player_id = ${playerId} and operation = 'debit' order by seq`,
  };
};

describe('a batch that began before a boundary and is decided after one that began behind it', () => {
  // The day before, 8.00 were bet in the last minute that the boundary takes out of the period.
  const eve = boundary - dayMs - 30_000;

  test('has the time of the other one, for ordinary moves and for decisions', async () => {
    const { ledger, debit, entries } = await limited();
    await using _ = ledger;
    expect(await debit(eve, 800)).toBe(true);
    expect(await debit(boundary + 100, 200)).toBe(true);
    // The counters of the day are read anew, and then the statement of ordinary moves accepts.
    for (const early of [1, 2]) expect(await debit(boundary - early, 100)).toBe(true);
    const times = (await entries()).map(({ at }) => Date.parse(at));
    expect(times).toEqual([eve, boundary + 100, boundary + 100, boundary + 100]);
  });

  test('has the time of a refusal that moved the period', async () => {
    const { ledger, debit, entries } = await limited();
    await using _ = ledger;
    expect(await debit(eve, 800)).toBe(true);
    expect(await debit(boundary + 100, 1001)).toBe(false);
    expect(await debit(boundary - 1, 700)).toBe(true);
    expect((await entries()).map(({ at }) => Date.parse(at))).toEqual([eve, boundary + 100]);
  });

  test('agrees with sums over all entries, whatever the order of the times is', async () => {
    const { ledger, debit, entries } = await limited();
    await using _ = ledger;
    const model = createLimitsModel('UTC', 1_800_000);
    model.set('player', [{ kind: 'wager', period: '24h', value: 1000n }], boundary - dayMs - 60_000);
    let clock = 0;
    for (let step = 0; step < 120; step++) {
      // Around both minutes that matter, some of a second to and fro.
      const around = step < 30 ? boundary - dayMs : boundary;
      const at = around + Math.floor(step / 30) * 1000 + Math.round((Math.random() - 0.5) * 3000);
      const amount = 1 + Math.floor(Math.random() * 150);
      clock = Math.max(clock, at);
      const command = {
        operation: 'debit',
        playerId: 'p',
        transactionId: randomUUID(),
        roundId: 'r',
        gameCode: 'g',
        amount,
      } as const;
      expect([step, await debit(at, amount)]).toEqual([step, model.apply(command, clock)]);
    }
    const times = (await entries()).map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});

describe('after the clock of the database ran ahead by a year and was put right', () => {
  const minute = 60_000;
  const year = 365 * dayMs;
  const start = boundary - dayMs;

  test('limits on bets count the bets of the true day, which leave it again', async () => {
    const { ledger, debit, entries } = await limited();
    await using _ = ledger;
    expect(await debit(start, 100)).toBe(true);
    expect(await debit(start + year, 300)).toBe(true);
    expect(await debit(start + minute, 600)).toBe(true);
    expect(await debit(start + 2 * minute, 1)).toBe(false);
    expect(await debit(start + dayMs + minute, 1000)).toBe(false);
    expect(await debit(start + dayMs + 2 * minute, 1000)).toBe(true);
    expect(await debit(start + 2 * dayMs + 2 * minute, 1)).toBe(false);
    expect(await debit(start + 2 * dayMs + 3 * minute, 1000)).toBe(true);
    expect((await entries()).map(({ at }) => Date.parse(at)).slice(0, 3)).toEqual([
      start,
      start + year,
      start + minute,
    ]);
  });

  test('limits on deposits count the deposits of the true day, which leave it again', async () => {
    const { ledger, deposit } = await limited([{ kind: 'deposit', period: '24h', value: 1000n }]);
    await using _ = ledger;
    expect(await deposit(start + year, 1000)).toBe(true);
    for (const days of [0, 2, 4]) {
      expect(await deposit(start + days * dayMs, 1000)).toBe(true);
      expect(await deposit(start + (days + 0.5) * dayMs, 1)).toBe(false);
    }
  });

  test('a session ends by its limit and begins after a break', async () => {
    const { ledger, debit } = await limited([{ kind: 'session', period: 'session', value: 60n }]);
    await using _ = ledger;
    expect(await debit(start, 1)).toBe(true);
    expect(await debit(start + year, 1)).toBe(true);
    const answers = [];
    for (const after of [40, 60, 80, 100, 140]) answers.push(await debit(start + after * minute, 1));
    expect(answers).toEqual([true, true, true, false, true]);
  });
});
