import { randomUUID } from 'node:crypto';
import {
  amounts,
  newIds,
  expectOk,
  expectChange,
  expectMove,
  expectStatus,
  inSteps,
  type Case,
  type Group,
} from '../expect.ts';
import type { Fields, Wallet } from '../wallet.ts';

type Operation = 'debit' | 'credit' | 'rollback';

const again = (operation: Operation): Case =>
  inSteps(
    `a repeated ${operation} is applied once and answered with the balance of the first time`,
    async (w) => {
      const fields = { ...newIds(), reverseTransactionId: randomUUID() };
      const first = expectOk(await w[operation](fields));
      return () =>
        expectChange(w, -1n, async () => {
          expectOk(await w.debit({ amount: '0.01' }));
          for (let copy = 0; copy < 3; copy++)
            amounts(expectOk(await w[operation](fields)), first, 'balance of the repeat');
        });
    },
  );

const differs = (operation: Operation, name: string, change: Fields): Case =>
  inSteps(`a ${operation} with a used transactionId and another ${name} is a duplicate`, async (w) => {
    const fields = { ...newIds(), reverseTransactionId: randomUUID() };
    expectOk(await w[operation](fields));
    return () =>
      expectChange(w, 0n, async () =>
        expectStatus(await w[operation]({ ...fields, ...change }), 'ERROR_DUPLICATE_TRANSACTION'),
      );
  });

const reused = (first: Operation, second: Operation): Case => ({
  title: `the transactionId of a ${first} can't be that of a ${second}`,
  run: async (w) => {
    const fields = { ...newIds(), reverseTransactionId: randomUUID() };
    expectOk(await w[first](fields));
    await expectChange(w, 0n, async () =>
      expectStatus(await w[second](fields), 'ERROR_DUPLICATE_TRANSACTION'),
    );
  },
});

/** The same debit by the player and by the other player, whose answer is `expected`, twice. */
const debitByBoth = async (w: Wallet, expected: string): Promise<void> => {
  const debit = newIds();
  expectOk(await w.debit(debit));
  for (let copy = 0; copy < 2; copy++)
    expectStatus(await w.debit({ ...debit, playerId: w.target.otherPlayer }), expected);
  expectOk(await w.debit(debit));
};

export const idempotency: Group = {
  title: 'Idempotency',
  cases: [
    again('debit'),
    again('credit'),
    again('rollback'),
    {
      title: 'a repeated rollback of a debit gives it back once',
      run: (w) =>
        expectChange(w, 0n, async () => {
          const debit = newIds();
          expectOk(await w.debit(debit));
          const reversal = { ...newIds(), roundId: debit.roundId, reverseTransactionId: debit.transactionId };
          for (let copy = 0; copy < 3; copy++) expectOk(await w.rollback(reversal));
        }),
    },
    {
      title: 'a second rollback of the same debit, with another id, gives nothing',
      run: (w) =>
        expectChange(w, 0n, async () => {
          const debit = newIds();
          expectOk(await w.debit(debit));
          const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
          await expectMove(w, 100n, () => w.rollback(reversal));
          await expectMove(w, 0n, () => w.rollback(reversal));
        }),
    },
    {
      title: 'an amount written differently is the same amount',
      run: (w) =>
        expectChange(w, -500n, async () => {
          const fields = newIds();
          for (const amount of ['5', '5.0', '5.00']) expectOk(await w.debit({ ...fields, amount }));
        }),
    },
    {
      title: 'metadata does not make a request another one',
      run: (w) =>
        expectChange(w, -100n, async () => {
          const fields = newIds();
          for (const metadata of ['{}', '{"a":1}']) expectOk(await w.debit({ ...fields, metadata }));
        }),
    },
    differs('debit', 'amount', { amount: '1.01' }),
    differs('debit', 'round', { roundId: 'another round' }),
    differs('debit', 'game', { gameCode: 'another game' }),
    differs('credit', 'amount', { amount: '1.01' }),
    differs('credit', 'roundClosed', { roundClosed: false }),
    differs('rollback', 'reverseTransactionId', { reverseTransactionId: 'another debit' }),
    differs('rollback', 'round', { roundId: 'another round' }),
    reused('debit', 'credit'),
    reused('credit', 'debit'),
    reused('debit', 'rollback'),
    {
      title: 'a transactionId of another player is a duplicate',
      applies: ({ otherPlayer, transactionIds = 'global' }) =>
        otherPlayer !== undefined && transactionIds === 'global',
      run: (w) => expectChange(w, -100n, () => debitByBoth(w, 'ERROR_DUPLICATE_TRANSACTION')),
    },
    {
      title: 'a transactionId of another player is a transaction of its own',
      applies: ({ otherPlayer, transactionIds }) => otherPlayer !== undefined && transactionIds === 'player',
      run: (w) => expectChange(w, -100n, () => debitByBoth(w, 'OK')),
    },
    {
      title: "a rollback does not reverse another player's debit of the same transactionId",
      applies: ({ otherPlayer, transactionIds }) => otherPlayer !== undefined && transactionIds === 'player',
      run: (w) =>
        expectChange(w, -100n, async () => {
          const { transactionId, roundId } = newIds();
          expectOk(await w.debit({ transactionId, roundId }));
          expectOk(
            await w.rollback({
              playerId: w.target.otherPlayer,
              roundId,
              reverseTransactionId: transactionId,
            }),
          );
        }),
    },
    {
      title:
        "a rollback before the other player's debit does not refuse a debit or credit of the same transactionId",
      applies: ({ otherPlayer, transactionIds }) => otherPlayer !== undefined && transactionIds === 'player',
      run: (w) =>
        expectChange(w, 0n, async () => {
          const [debit, credit] = [newIds(), newIds()];
          for (const { transactionId, roundId } of [debit, credit])
            expectOk(
              await w.rollback({
                playerId: w.target.otherPlayer,
                roundId,
                reverseTransactionId: transactionId,
              }),
            );
          expectOk(await w.debit(debit));
          expectOk(await w.credit({ ...credit, roundId: debit.roundId }));
        }),
    },
    {
      title: 'a refused attempt does not use its transactionId up',
      run: (w) =>
        expectChange(w, -100n, async () => {
          const fields = newIds();
          expectStatus(await w.debit({ ...fields, amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY');
          expectOk(await w.debit(fields));
        }),
    },
  ],
};
