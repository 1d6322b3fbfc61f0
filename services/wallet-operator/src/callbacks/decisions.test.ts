import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf, type Fields } from '../../test/factories.ts';
import { startService, type Running } from '../../test/harness.ts';
import { expectSoundLedger } from '../../test/proof.ts';

/** Each row of the decision table; what the contract of the game server leaves open. */
let service: Running;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
  await addGame(service.context.database.sql, 'closed-game', false);
});
afterEach(() => expectSoundLedger(service));
afterAll(() => service[Symbol.asyncDispose]());

const player = async (wish: Parameters<typeof addPlayer>[1] = {}) =>
  callerOf(service, await addPlayer(service.context.database.sql, wish));

const ok = (balance: string) => ({ http: 200, status: 'OK', balance });
const entriesOf = async (playerId: string) =>
  service.context.database.sql<{ operation: string; amount: string; transactionId: string }[]>`
    select operation, amount, transaction_id as "transactionId" from entries where player_id = ${playerId} order by seq`;

describe('the same transactionId again', () => {
  test.each(['debit', 'credit', 'rollback'] as const)(
    '%s: the stored answer, with the new requestId',
    async (op) => {
      const caller = await player();
      const fields = {
        transactionId: randomUUID(),
        roundId: randomUUID(),
        reverseTransactionId: randomUUID(),
      };
      const first = await caller[op](fields);
      await caller.debit({ amount: '1.00' });
      const again = await caller[op](fields);
      expect(first).toMatchObject({ status: 'OK' });
      expect(again).toEqual({ ...first, requestId: again.requestId });
      expect(again.requestId).not.toBe(first.requestId);
    },
  );

  test('the amount counts as a number, metadata and requestId do not count', async () => {
    const caller = await player();
    const fields = { transactionId: randomUUID(), roundId: randomUUID(), amount: '5', metadata: 'a' };
    expect(await caller.debit(fields)).toMatchObject(ok('995.00'));
    expect(await caller.debit({ ...fields, amount: '5.00', metadata: 'b' })).toMatchObject(ok('995.00'));
    expect(await caller.debit({ ...fields, amount: '5.0', metadata: undefined })).toMatchObject(ok('995.00'));
    expect(await caller.balance()).toMatchObject(ok('995.00'));
  });

  const base = { transactionId: 'set per test', roundId: 'round', amount: '5.00' };
  const other: [string, 'debit' | 'credit' | 'rollback', Fields][] = [
    ['roundId', 'debit', { roundId: 'another' }],
    ['game', 'debit', { gameCode: 'another' }],
    ['amount', 'debit', { amount: '5.01' }],
    ['roundId', 'credit', { roundId: 'another' }],
    ['game', 'credit', { gameId: 'another' }],
    ['amount', 'credit', { amount: '6' }],
    ['roundClosed', 'credit', { roundClosed: false }],
    ['roundId', 'rollback', { roundId: 'another' }],
    ['game', 'rollback', { gameId: 'another' }],
    ['roundClosed', 'rollback', { roundClosed: true }],
    ['reverseTransactionId', 'rollback', { reverseTransactionId: 'another' }],
  ];
  test.each(other)('with another %s it is a duplicate: %s', async (_name, op, difference) => {
    const caller = await player();
    const fields = { ...base, transactionId: randomUUID(), reverseTransactionId: randomUUID() };
    const first = await caller[op](fields);
    expect(first.status).toBe('OK');
    expect(await caller[op]({ ...fields, ...difference })).toMatchObject({
      http: 200,
      status: 'ERROR_DUPLICATE_TRANSACTION',
    });
    expect((await caller.balance()).balance).toBe(first.balance);
  });

  test('by another player, or for another operation, it is a duplicate', async () => {
    const [caller, stranger] = [await player(), await player()];
    const fields = { transactionId: randomUUID(), roundId: randomUUID(), amount: '5.00' };
    await caller.debit(fields);
    expect((await stranger.debit(fields)).status).toBe('ERROR_DUPLICATE_TRANSACTION');
    expect((await caller.credit(fields)).status).toBe('ERROR_DUPLICATE_TRANSACTION');
    const reversal = { ...fields, reverseTransactionId: fields.transactionId };
    expect((await caller.rollback(reversal)).status).toBe('ERROR_DUPLICATE_TRANSACTION');
    expect((await stranger.balance()).balance).toBe('1000.00');
    expect((await caller.balance()).balance).toBe('995.00');
  });

  test('a rejected attempt does not bind the id', async () => {
    const caller = await player({ balance: 100 });
    const fields = { transactionId: randomUUID(), roundId: randomUUID(), amount: '5.00' };
    expect(await caller.debit(fields)).toMatchObject({ status: 'ERROR_NOT_ENOUGH_MONEY', balance: '1.00' });
    await caller.credit({ amount: '10.00' });
    expect(await caller.debit(fields)).toMatchObject(ok('6.00'));
  });

  test('200 copies at once are applied once and get the same answer', async () => {
    const caller = await player();
    const fields = { transactionId: randomUUID(), roundId: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 200 }, () => caller.debit(fields)));
    expect(new Set(answers.map(({ status, balance }) => `${status} ${balance}`))).toEqual(
      new Set(['OK 990.00']),
    );
    expect(await entriesOf(caller.playerId)).toHaveLength(2);
  });
});

describe('rollback', () => {
  test('of an unknown debit: OK with the current balance, and the late debit is refused and moves nothing', async () => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect(await caller.debit(debit)).toMatchObject({ http: 200, status: 'ERROR_UNKNOWN' });
    expect(await caller.balance()).toMatchObject(ok('1000.00'));
    expect((await entriesOf(caller.playerId)).map(({ operation }) => operation)).toEqual([
      'deposit',
      'tombstone',
      'rollback',
    ]);
  });

  test('of a rejected debit: the same', async () => {
    const caller = await player({ balance: 0 });
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    expect((await caller.debit(debit)).status).toBe('ERROR_NOT_ENOUGH_MONEY');
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    expect(await caller.rollback(reversal)).toMatchObject(ok('0.00'));
    await caller.credit({ amount: '100' });
    expect((await caller.debit(debit)).status).toBe('ERROR_UNKNOWN');
    expect(await caller.balance()).toMatchObject(ok('100.00'));
  });

  test('gives a debit back, once, whatever id asks for it', async () => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    await caller.debit(debit);
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect(await caller.balance()).toMatchObject(ok('1000.00'));
    expect(await caller.debit(debit)).toMatchObject(ok('990.00'));
    expect(await caller.balance()).toMatchObject(ok('1000.00'));
  });

  test('at the same instant as its debit: the sum is zero', async () => {
    const caller = await player();
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const debit = { transactionId: randomUUID(), roundId: randomUUID() };
        const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
        const both = [() => caller.debit(debit), () => caller.rollback(reversal)];
        const [first, second] = await Promise.all(
          (index % 2 ? both : both.toReversed()).map((send) => send()),
        );
        const [debited, reversed] = index % 2 ? [first, second] : [second, first];
        expect(reversed?.status).toBe('OK');
        expect(['OK', 'ERROR_UNKNOWN']).toContain(debited?.status);
      }),
    );
    expect(await caller.balance()).toMatchObject(ok('1000.00'));
  });

  test('of a credit, of a rollback or of a deposit does not exist', async () => {
    const caller = await player();
    const roundId = randomUUID();
    const [credit, rollback] = [randomUUID(), randomUUID()];
    await caller.credit({ transactionId: credit, roundId, roundClosed: false });
    await caller.rollback({ transactionId: rollback, roundId });
    const deposit = (await entriesOf(caller.playerId))[0]?.transactionId;
    for (const reverseTransactionId of [credit, rollback, deposit]) {
      expect(await caller.rollback({ roundId, reverseTransactionId })).toMatchObject({
        http: 200,
        status: 'ERROR_TRANSACTION_DOES_NOT_EXIST',
      });
    }
    expect(await caller.balance()).toMatchObject(ok('1005.00'));
  });

  test("of another player's or another round's debit does not exist", async () => {
    const [caller, stranger] = [await player(), await player()];
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    await caller.debit(debit);
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    expect((await stranger.rollback(reversal)).status).toBe('ERROR_TRANSACTION_DOES_NOT_EXIST');
    expect((await caller.rollback({ ...reversal, roundId: randomUUID() })).status).toBe(
      'ERROR_TRANSACTION_DOES_NOT_EXIST',
    );
    expect((await stranger.balance()).balance).toBe('1000.00');
    expect((await caller.balance()).balance).toBe('990.00');
  });

  test('of itself is wrong syntax and kills nothing', async () => {
    const caller = await player();
    const id = randomUUID();
    expect((await caller.rollback({ transactionId: id, reverseTransactionId: id })).status).toBe(
      'ERROR_WRONG_SYNTAX',
    );
    expect(await caller.debit({ transactionId: id })).toMatchObject(ok('990.00'));
  });

  test('of a debit in a closed round: reversed, and in the audit trail', async () => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    await caller.debit(debit);
    await caller.credit({ roundId: debit.roundId, amount: '0' });
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    const events = await service.context.database.sql`
      select details from audit_events where player_id = ${caller.playerId}`;
    expect(events).toMatchObject([
      { details: { operation: 'rollback', reason: 'after_close', status: 'OK' } },
    ]);
  });

  test.each([true, false])('with roundClosed true closes the round, debit known: %s', async (known) => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    if (known) await caller.debit(debit);
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId, roundClosed: true };
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect((await caller.debit({ roundId: debit.roundId })).status).toBe('ERROR_UNKNOWN');
    expect((await caller.credit({ roundId: debit.roundId })).status).toBe('ERROR_UNKNOWN');
  });
});

describe('rounds', () => {
  test('hold several debits and credits, and are closed by a credit, with "0" too', async () => {
    const caller = await player();
    const roundId = randomUUID();
    expect(await caller.debit({ roundId })).toMatchObject(ok('990.00'));
    expect(await caller.debit({ roundId })).toMatchObject(ok('980.00'));
    expect(await caller.credit({ roundId, amount: '30.5', roundClosed: false })).toMatchObject(ok('1010.50'));
    expect(await caller.debit({ roundId })).toMatchObject(ok('1000.50'));
    expect(await caller.credit({ roundId, amount: '0' })).toMatchObject(ok('1000.50'));
    expect(await caller.debit({ roundId })).toMatchObject({
      http: 200,
      status: 'ERROR_UNKNOWN',
      customUserError: 'This round is over.',
    });
    expect(await caller.balance()).toMatchObject(ok('1000.50'));
  });

  test('a new credit in a closed round is refused and in the audit trail', async () => {
    const caller = await player();
    const roundId = randomUUID();
    await caller.credit({ roundId });
    expect(await caller.credit({ roundId })).toMatchObject({ http: 200, status: 'ERROR_UNKNOWN' });
    expect(await caller.balance()).toMatchObject(ok('1005.00'));
    const events = await service.context.database.sql`
      select details from audit_events where player_id = ${caller.playerId}`;
    expect(events).toMatchObject([{ details: { operation: 'credit', reason: 'round_closed' } }]);
  });

  test('a credit in a round never seen is paid', async () => {
    const caller = await player();
    expect(await caller.credit({ amount: '12.34' })).toMatchObject(ok('1012.34'));
  });

  test('each player has its own round of an id', async () => {
    const [caller, other] = [await player(), await player()];
    const roundId = randomUUID();
    await caller.credit({ roundId });
    expect(await other.debit({ roundId })).toMatchObject(ok('990.00'));
  });

  test('a debit of "0" opens the round', async () => {
    const caller = await player({ balance: 0 });
    const roundId = randomUUID();
    expect(await caller.debit({ roundId, amount: '0' })).toMatchObject(ok('0.00'));
    expect(
      await service.context.database.sql`
      select closed_at from rounds where player_id = ${caller.playerId} and round_id = ${roundId}`,
    ).toEqual([{ closed_at: null }]);
  });
});

describe('players', () => {
  test.each(['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const)(
    'unknown: %s',
    async (op) => {
      const answer = await callerOf(service, randomUUID())[op]();
      expect(answer).toEqual({ http: 200, requestId: answer.requestId, status: 'ERROR_UNKNOWN' });
    },
  );

  test('disabled: no debit, no launch, but credits, rollbacks and the balance', async () => {
    const caller = await player({ status: 'disabled' });
    expect((await caller.authenticate()).status).toBe('ERROR_PLAYER_DISABLED');
    expect((await caller.debit()).status).toBe('ERROR_PLAYER_DISABLED');
    expect(await caller.credit()).toMatchObject(ok('1005.00'));
    expect(await caller.rollback()).toMatchObject(ok('1005.00'));
    expect(await caller.balance()).toMatchObject(ok('1005.00'));
  });

  test('self-excluded: no debit; authenticate says so, and it is in the audit trail', async () => {
    const caller = await player({ excluded: true, excludedUntil: '2999-12-31' });
    expect(await caller.authenticate()).toMatchObject({
      ...ok('1000.00'),
      excluded: true,
      excludedUntil: '2999-12-31',
    });
    expect((await caller.debit()).status).toBe('ERROR_PLAYER_DISABLED');
    expect(await caller.credit()).toMatchObject(ok('1005.00'));
    expect(await caller.rollback()).toMatchObject(ok('1005.00'));
    const events = await service.context.database.sql`
      select details from audit_events where player_id = ${caller.playerId} order by event_id`;
    expect(events[0]).toMatchObject({ details: { operation: 'authenticate', reason: 'player_excluded' } });
  });

  test('an exclusion ends with its date', async () => {
    const caller = await player({ excluded: true, excludedUntil: '2020-01-01' });
    expect(await caller.authenticate()).toMatchObject({ ...ok('1000.00'), excluded: false });
    expect(await caller.debit()).toMatchObject(ok('990.00'));
    const today = new Date().toISOString().slice(0, 10);
    const last = await player({ excluded: true, excludedUntil: today });
    expect((await last.debit()).status).toBe('ERROR_PLAYER_DISABLED');
  });

  test('what is known about the player is in the answer of authenticate', async () => {
    const caller = await player();
    await service.context.database
      .sql`update players set name = 'Ada', country_code = 'DE', language_code = 'de',
      birth_date = '1990-05-06', address = 'Ring 1' where player_id = ${caller.playerId}`;
    const answer = await caller.authenticate();
    expect(answer).toEqual({
      http: 200,
      requestId: answer.requestId,
      status: 'OK',
      balance: '1000.00',
      accountCurrency: 'EUR',
      name: 'Ada',
      countryCode: 'DE',
      languageCode: 'de',
      birthDate: '1990-05-06',
      registrationDate: '2026-01-02',
      address: 'Ring 1',
      excluded: false,
    });
  });
});

describe('games and currencies', () => {
  test.each(['closed-game', 'no-such-game'])(
    '%s: no debit, no launch, but credits and rollbacks',
    async (game) => {
      const caller = await player();
      expect((await caller.authenticate({ gameCode: game })).status).toBe('ERROR_INVALID_GAME');
      expect((await caller.debit({ gameCode: game })).status).toBe('ERROR_INVALID_GAME');
      expect(await caller.credit({ gameId: game })).toMatchObject(ok('1005.00'));
      expect(await caller.rollback({ gameId: game })).toMatchObject(ok('1005.00'));
    },
  );

  test("another currency than the wallet's is refused; RMB is CNY and repeated as it was sent", async () => {
    const caller = await player({ currency: 'CNY' });
    expect((await caller.authenticate({ currency: 'EUR' })).status).toBe('ERROR_WRONG_CURRENCY');
    expect(await caller.authenticate({ currency: 'CNY' })).toMatchObject({ accountCurrency: 'CNY' });
    expect(await caller.authenticate({ currency: 'RMB' })).toMatchObject({ accountCurrency: 'RMB' });
  });
});

describe('balances', () => {
  test('never go below zero, however many debits come at once', async () => {
    const caller = await player({ balance: 5000 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => caller.debit({ amount: '10.00' })));
    expect(answers.filter(({ status }) => status === 'OK')).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 'ERROR_NOT_ENOUGH_MONEY')).toHaveLength(45);
    expect(await caller.balance()).toMatchObject(ok('0.00'));
  });

  test('hold int64 exactly and refuse a credit beyond', async () => {
    const caller = await player({ balance: 9_223_372_036_854_775_806n });
    expect(await caller.credit({ amount: '0.02' })).toMatchObject({ http: 200, status: 'ERROR_UNKNOWN' });
    expect(await caller.credit({ amount: '0.01' })).toMatchObject(ok('92233720368547758.07'));
    expect(await caller.debit({ amount: '9999999999999.99' })).toMatchObject(ok('92223720368547758.08'));
  });
});
