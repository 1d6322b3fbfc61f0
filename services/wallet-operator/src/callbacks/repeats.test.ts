import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ok, startForDecisions } from '../../test/decisions.ts';
import { type Fields } from '../../test/factories.ts';

// The tests cover each row of the decision table, and what the contract of the game server leaves open.
const { entriesOf, player } = startForDecisions();

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
