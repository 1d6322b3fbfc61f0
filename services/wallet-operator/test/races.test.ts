import { randomUUID } from 'node:crypto';
import { createMetrics } from '@platform/service-kit/metrics';
import { cloneDatabase, type ServiceProcess } from '@platform/service-kit/testing';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { endSessions, insertSession } from '../src/accounts/sessions.ts';
import { createContext, migrations } from '../src/context.ts';
import type { Command, Debit, Policy } from '../src/ledger/command.ts';
import { commitCommands } from '../src/ledger/commit-commands.ts';
import { openLedger, type Ledger } from '../src/ledger/ledger.ts';
import { commitMoves } from '../src/ledger/ordinary-moves.ts';
import { sessionHash } from '../src/ledger/sessions.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { holdPlayer } from './hold-player.ts';
import { person } from './people.ts';
import { startProcess } from './process.ts';
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

/** Two processes of the service on one database, as behind a load balancer that knows nothing of players. */
const stack = new AsyncDisposableStack();
let sql: Sql;
let processes: [ServiceProcess, ServiceProcess];
beforeAll(async () => {
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  sql = postgres(database.url, { max: 2, onnotice: () => undefined });
  stack.defer(() => sql.end());
  await addGame(sql);
  processes = [stack.use(await startProcess(database.url)), stack.use(await startProcess(database.url))];
});
afterAll(() => stack.disposeAsync());

const player = async (balance = 100_000) => {
  const playerId = await addPlayer(sql, { balance });
  const [one, other] = processes.map((process) => callerOf(process, playerId));
  if (one === undefined || other === undefined) throw new Error('there are two');
  return { playerId, one, other };
};

const cents = (balance: string | undefined): number => Math.round(Number(balance) * 100);

test('one transactionId with other amounts at once: one amount is taken, the others are duplicates', async () => {
  for (let round = 0; round < 15; round++) {
    const { playerId, one, other } = await player();
    const ids = { transactionId: randomUUID(), roundId: randomUUID() };
    const amounts = ['1.00', '2.00', '3.00', '1.0', '2', '9999.00'];
    const answers = await Promise.all(
      amounts.flatMap((amount) =>
        [one, other].map(async (caller) => ({ amount, ...(await caller.debit({ ...ids, amount })) })),
      ),
    );
    const taken = answers.filter(({ status }) => status === 'OK');
    const [first] = taken;
    const left = 100_000 - cents(first?.amount);
    expect(new Set(taken.map(({ amount }) => Number(amount))).size).toBe(1);
    expect(new Set(taken.map(({ balance }) => cents(balance)))).toEqual(new Set([left]));
    for (const { status, amount } of answers)
      expect(
        Number(amount) === Number(first?.amount)
          ? ['OK']
          : // A bet beyond the balance may be judged before there is anything to be a duplicate of.
            amount === '9999.00'
            ? ['ERROR_NOT_ENOUGH_MONEY', 'ERROR_DUPLICATE_TRANSACTION']
            : ['ERROR_DUPLICATE_TRANSACTION'],
      ).toContain(status);
    const [row] = await sql`select balance::int, seq::int from players where player_id = ${playerId}`;
    expect(row).toEqual({ balance: left, seq: 2 });
  }
  await expectSoundLedger({ sql });
});

test('debits, credits and rollbacks of one round at once: the answers add up to the balance', async () => {
  for (let round = 0; round < 30; round++) {
    const { one, other } = await player();
    const roundId = randomUUID();
    const first = randomUUID();
    expect((await one.debit({ transactionId: first, roundId, amount: '7.00' })).status).toBe('OK');
    const bet = { transactionId: randomUUID(), roundId, amount: '1.00' };
    const win = { transactionId: randomUUID(), roundId, amount: '2.00', roundClosed: false };
    const end = { transactionId: randomUUID(), roundId, amount: '3.00', roundClosed: true };
    const reversal = { roundId, reverseTransactionId: first };
    const [bets, wins, ends, reversals] = await Promise.all([
      Promise.all([one.debit(bet), other.debit(bet)]),
      Promise.all([one.credit(win), other.credit(win)]),
      Promise.all([one.credit(end), other.credit(end)]),
      Promise.all([one.rollback(reversal), other.rollback(reversal)]),
    ]);
    // Copies agree, whichever process they came to; nothing is refused but for the end of the round.
    const said = ([a, b]: { status: string; balance?: string }[]) => {
      expect([a?.status, a?.balance]).toEqual([b?.status, b?.balance]);
      return a?.status;
    };
    const [betSaid, winSaid] = [said(bets), said(wins)];
    expect(['OK', 'ERROR_UNKNOWN']).toContain(betSaid);
    expect(['OK', 'ERROR_UNKNOWN']).toContain(winSaid);
    expect(said(ends)).toBe('OK');
    expect(reversals.map(({ status }) => status)).toEqual(['OK', 'OK']);
    const expected = 100_000 + 300 - (betSaid === 'OK' ? 100 : 0) + (winSaid === 'OK' ? 200 : 0);
    expect(cents((await other.balance()).balance)).toBe(expected);
    expect((await one.debit({ roundId })).status).toBe('ERROR_UNKNOWN');
  }
  await expectSoundLedger({ sql });
});

test('the last money is spent once, by however many bets in however many rounds', async () => {
  for (let round = 0; round < 10; round++) {
    const { playerId, one, other } = await player(1000);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) => (at % 2 ? one : other).debit({ amount: '3.00' })),
    );
    expect(answers.filter(({ status }) => status === 'OK')).toHaveLength(3);
    const refused = answers.filter(({ status }) => status !== 'OK');
    expect(new Set(refused.map(({ status, balance }) => `${status} ${balance}`))).toEqual(
      new Set(['ERROR_NOT_ENOUGH_MONEY 1.00']),
    );
    const [row] = await sql`select balance::int from players where player_id = ${playerId}`;
    expect(row).toEqual({ balance: 100 });
  }
  await expectSoundLedger({ sql });
});

const policy: Policy = {
  rollbackAfterClose: 'reverse',
  creditUnknownRound: 'accept',
  sessions: 'required',
  transactionIds: 'global',
  limitStatus: 'ERROR_UNKNOWN',
  sessionBreakS: 1800,
  sessionTtlS: 3600,
  sessionMaxS: 43_200,
};

test.each([
  // One statement sees the session as it was when the statement began: the bet was first.
  ['an ordinary bet', commitMoves, 'OK'],
  ['a decided bet', commitCommands, 'ERROR_SESSION_EXPIRED'],
])(
  '%s that waits for its player while the session is ended does not revive it',
  async (_what, commit, status) => {
    await using service = await startService();
    const { sql } = service.context.database;
    const [gameCode, playerId, sessionToken] = [await addGame(sql), await addPlayer(sql), randomUUID()];
    const session = sessionHash(sessionToken);
    const launched = { tokenHash: session, playerId, gameCode, sessionId: randomUUID() };
    await insertSession(sql, launched, { ttl: policy.sessionTtlS, longest: policy.sessionMaxS });
    // Late enough that an accepted bet would give it a later end.
    await sql`update sessions set created_at = created_at - interval '30 minutes',
      expires_at = expires_at - interval '30 minutes'`;
    const { release } = await holdPlayer(service.databaseUrl, playerId);
    const ids = { playerId, gameCode, transactionId: randomUUID(), roundId: randomUUID() };
    const bet: Debit = { operation: 'debit', ...ids, amount: 100, session };
    const outcomes = commit(sql, [bet], undefined, policy);
    const waiting = () =>
      sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting()).length, { interval: 5 }).toBe(1);
    await endSessions(sql, playerId);
    await release();
    expect(await outcomes).toMatchObject([{ status }]);
    expect((await callerOf(service, playerId).debit({ sessionToken })).status).toBe('ERROR_SESSION_EXPIRED');
    expect(await sql`select from sessions where expires_at > now()`).toHaveLength(0);
  },
);

test('64 debits at once in two processes never exceed a limit by a cent, nor leave room that would suffice', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  await using one = await startProcess(service.databaseUrl);
  await using other = await startProcess(service.databaseUrl);
  const admin = await person(service);
  for (const limits of [{ wager: { '24h': '1.00' } }, { loss: { '7d': '1.00' } }]) {
    const playerId = await addPlayer(sql);
    await admin.put(`/v1/players/${playerId}/limits`, { setBy: 'player', ...limits });
    // After this one, the statement of ordinary moves may accept debits, too.
    expect((await callerOf(one, playerId).debit({ amount: '0.01' })).status).toBe('OK');
    const [first, second] = [callerOf(one, playerId), callerOf(other, playerId)];
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, at) => (at % 2 ? second : first).debit({ amount: '0.07' })),
    );
    const statuses = Object.groupBy(answers, ({ status }) => status);
    // 0.01 + 14 × 0.07 = 0.99
    expect(statuses['OK']).toHaveLength(14);
    expect(statuses['ERROR_NOT_ENOUGH_MONEY']).toHaveLength(50);
    const transactionId = randomUUID();
    expect((await first.debit({ amount: '0.02', transactionId })).status).toBe('ERROR_NOT_ENOUGH_MONEY');
    // A refused attempt does not use up its id.
    expect((await second.debit({ amount: '0.01', transactionId })).status).toBe('OK');
  }
  await expectSoundLedger(service);
});

test('debits and a lower limit at once: after its answer no debit exceeds it', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  await using other = await startProcess(service.databaseUrl);
  const admin = await person(service);
  const playerId = await addPlayer(sql);
  const [first, second] = [callerOf(service, playerId), callerOf(other, playerId)];
  const path = `/v1/players/${playerId}/limits`;
  await admin.put(path, { setBy: 'player', wager: { month: '900.00' } });
  let isLowered = false;
  const late: string[] = [];
  const play = async (at: number): Promise<void> => {
    for (let rest = 3; rest > 0;) {
      const startedAfter = isLowered;
      const { status } = await (at % 2 ? second : first).debit({ amount: '1.00' });
      if (!startedAfter) continue;
      rest -= 1;
      late.push(status);
    }
  };
  const playing = Promise.all(Array.from({ length: 16 }, (_, at) => play(at)));
  const balance = async () => (await first.balance()).balance;
  await expect.poll(balance).not.toBe('1000.00');
  await admin.put(path, { setBy: 'player', wager: { month: '1.00' } });
  isLowered = true;
  await playing;
  expect(late).toEqual(Array(48).fill('ERROR_NOT_ENOUGH_MONEY'));
  await expectSoundLedger(service);
});
