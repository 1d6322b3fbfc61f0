import { randomUUID } from 'node:crypto';
import {
  amounts,
  check,
  newIds,
  expectOk,
  expectRefusal,
  expectChange,
  expectMove,
  expectStatus,
  inSteps,
  type Case,
  type Group,
} from '../expect.ts';
import { minorOf } from '../wallet.ts';

const inClosedRound = (operation: 'debit' | 'credit', title: string): Case =>
  inSteps(title, async (w) => {
    const { roundId } = newIds();
    expectOk(await w.debit({ roundId }));
    expectOk(await w.credit({ roundId }));
    return () => expectChange(w, 0n, async () => expectRefusal(await w[operation]({ roundId })));
  });

export const errors: Group = {
  title: 'Errors',
  cases: [
    {
      title: 'an unknown player is refused everywhere',
      run: async (w) => {
        const playerId = `nobody ${randomUUID()}`;
        for (const callback of ['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const)
          expectRefusal(await w[callback]({ playerId }));
      },
    },
    {
      title: 'a bet beyond the balance is refused',
      run: (w) =>
        expectChange(w, 0n, async () =>
          expectStatus(await w.debit({ amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY'),
        ),
    },
    {
      title: 'a balance given with ERROR_NOT_ENOUGH_MONEY is the right one',
      run: async (w) => {
        const before = await w.money();
        const { balance } = expectStatus(
          await w.debit({ amount: '9999999999999.99' }),
          'ERROR_NOT_ENOUGH_MONEY',
        );
        if (balance !== undefined) amounts(minorOf(balance) ?? -1n, before, 'balance');
      },
    },
    {
      title: 'a launch of an unknown game is refused',
      run: async (w) =>
        expectStatus(await w.authenticate({ gameCode: `no game ${randomUUID()}` }), 'ERROR_INVALID_GAME'),
    },
    {
      title: 'a bet in an unknown game is refused',
      run: (w) =>
        expectChange(w, 0n, async () =>
          expectStatus(await w.debit({ gameCode: `no game ${randomUUID()}` }), 'ERROR_INVALID_GAME'),
        ),
    },
    {
      title: "a launch in another currency than the wallet's is refused",
      run: async (w) => expectStatus(await w.authenticate({ currency: 'XTS' }), 'ERROR_WRONG_CURRENCY'),
    },
    {
      title: 'a rollback of an unknown debit is OK and moves nothing',
      run: (w) => expectMove(w, 0n, () => w.rollback()),
    },
    inSteps('a debit that comes after its rollback is refused', async (w) => {
      const debit = newIds();
      const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
      await expectMove(w, 0n, () => w.rollback(reversal));
      return () =>
        expectChange(w, 0n, async () => {
          expectRefusal(await w.debit(debit));
          expectRefusal(await w.debit(debit));
        });
    }),
    {
      title: 'a rollback of a credit moves nothing and is not OK',
      run: (w) =>
        expectChange(w, 100n, async () => {
          const credit = newIds();
          expectOk(await w.credit({ ...credit, roundClosed: false }));
          const reversal = { roundId: credit.roundId, reverseTransactionId: credit.transactionId };
          expectStatus(await w.rollback(reversal), 'ERROR_TRANSACTION_DOES_NOT_EXIST');
        }),
    },
    {
      title: 'a rollback that names another round than its debit reverses the debit',
      run: async (w) => {
        const debit = newIds();
        expectOk(await w.debit(debit));
        await expectMove(w, 100n, () => w.rollback({ reverseTransactionId: debit.transactionId }));
      },
    },
    inClosedRound('debit', 'a debit in a closed round is refused'),
    inClosedRound('credit', 'a new credit in a closed round is refused'),
    ...[
      ['debit', ['playerId', 'transactionId', 'roundId', 'gameCode', 'amount']],
      ['credit', ['playerId', 'transactionId', 'roundId', 'gameId', 'amount', 'roundClosed']],
      ['rollback', ['playerId', 'transactionId', 'reverseTransactionId', 'roundId', 'gameId', 'roundClosed']],
    ].map(([callback, names]) => ({
      title: `a ${String(callback)} without one of its fields is wrong syntax`,
      run: async (w: Parameters<Group['cases'][number]['run']>[0]) => {
        for (const name of names ?? []) {
          const { requestId } = expectStatus(
            await w[callback as 'debit' | 'credit' | 'rollback']({ requestId: 'r', [name]: undefined }),
            'ERROR_WRONG_SYNTAX',
          );
          check(requestId === 'r', 'requestId must be repeated');
        }
      },
    })),
  ],
};
