import { randomUUID } from 'node:crypto';
import { cloneDatabase, type ServiceProcess } from '@platform/service-kit/testing';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migrations } from '../src/context.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startProcess } from './process.ts';
import { expectSoundLedger } from './proof.ts';

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
