import { randomUUID } from 'node:crypto';
import { amounts, check, fresh, isOk, isRefused, moves, says, type Group } from '../expect.ts';
import { minorOf } from '../wallet.ts';

export const errors: Group = {
  title: 'Errors',
  cases: [
    {
      title: 'a player nobody knows is refused everywhere',
      run: async (w) => {
        const playerId = `nobody ${randomUUID()}`;
        for (const callback of ['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const)
          isRefused(await w[callback]({ playerId }));
      },
    },
    {
      title: 'a bet beyond the balance is refused',
      run: (w) =>
        moves(w, 0n, async () =>
          says(await w.debit({ amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY'),
        ),
    },
    {
      title: 'a balance given with ERROR_NOT_ENOUGH_MONEY is the right one',
      run: async (w) => {
        const before = await w.money();
        const { balance } = says(await w.debit({ amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY');
        if (balance !== undefined) amounts(minorOf(balance) ?? -1n, before, 'balance');
      },
    },
    {
      title: 'a launch of an unknown game is refused',
      run: async (w) =>
        says(await w.authenticate({ gameCode: `no game ${randomUUID()}` }), 'ERROR_INVALID_GAME'),
    },
    {
      title: 'a bet in an unknown game is refused',
      run: (w) =>
        moves(w, 0n, async () =>
          says(await w.debit({ gameCode: `no game ${randomUUID()}` }), 'ERROR_INVALID_GAME'),
        ),
    },
    {
      title: "a launch in another currency than the wallet's is refused",
      run: async (w) => says(await w.authenticate({ currency: 'XTS' }), 'ERROR_WRONG_CURRENCY'),
    },
    {
      title: 'a rollback of an unknown debit is OK and moves nothing',
      run: (w) => moves(w, 0n, async () => isOk(await w.rollback())),
    },
    {
      title: 'a debit that comes after its rollback is refused',
      run: (w) =>
        moves(w, 0n, async () => {
          const debit = fresh();
          isOk(await w.rollback({ roundId: debit.roundId, reverseTransactionId: debit.transactionId }));
          isRefused(await w.debit(debit));
          isRefused(await w.debit(debit));
        }),
    },
    {
      title: 'a rollback of a credit moves nothing and is no OK',
      run: (w) =>
        moves(w, 100n, async () => {
          const credit = fresh();
          isOk(await w.credit({ ...credit, roundClosed: false }));
          const reversal = { roundId: credit.roundId, reverseTransactionId: credit.transactionId };
          says(await w.rollback(reversal), 'ERROR_TRANSACTION_DOES_NOT_EXIST');
        }),
    },
    {
      title: "a rollback of another round's debit moves nothing and is no OK",
      run: (w) =>
        moves(w, -100n, async () => {
          const debit = fresh();
          isOk(await w.debit(debit));
          says(
            await w.rollback({ reverseTransactionId: debit.transactionId }),
            'ERROR_TRANSACTION_DOES_NOT_EXIST',
          );
        }),
    },
    {
      title: 'a debit in a closed round is refused',
      run: (w) =>
        moves(w, 0n, async () => {
          const { roundId } = fresh();
          isOk(await w.debit({ roundId }));
          isOk(await w.credit({ roundId }));
          isRefused(await w.debit({ roundId }));
        }),
    },
    {
      title: 'a new credit in a closed round is refused',
      run: (w) =>
        moves(w, 0n, async () => {
          const { roundId } = fresh();
          isOk(await w.debit({ roundId }));
          isOk(await w.credit({ roundId }));
          isRefused(await w.credit({ roundId }));
        }),
    },
    ...[
      ['debit', ['playerId', 'transactionId', 'roundId', 'gameCode', 'amount']],
      ['credit', ['playerId', 'transactionId', 'roundId', 'gameId', 'amount', 'roundClosed']],
      ['rollback', ['playerId', 'transactionId', 'reverseTransactionId', 'roundId', 'gameId', 'roundClosed']],
    ].map(([callback, names]) => ({
      title: `a ${String(callback)} without one of its fields is wrong syntax`,
      run: async (w: Parameters<Group['cases'][number]['run']>[0]) => {
        for (const name of names ?? []) {
          const { requestId } = says(
            await w[callback as 'debit' | 'credit' | 'rollback']({ requestId: 'r', [name]: undefined }),
            'ERROR_WRONG_SYNTAX',
          );
          check(requestId === 'r', 'requestId must be repeated');
        }
      },
    })),
  ],
};
