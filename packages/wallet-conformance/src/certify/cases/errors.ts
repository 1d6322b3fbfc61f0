import { randomUUID } from 'node:crypto';
import {
  expectAmount,
  changing,
  check,
  expectChange,
  expectMove,
  expectOk,
  expectRefusal,
  expectStatus,
  inSteps,
  placeBet,
  reversalOf,
  testCase,
  type Case,
  type Group,
} from '../expect.ts';
import { minorOf, newIds } from '../wallet.ts';

const inClosedRound = (operation: 'debit' | 'credit', title: string): Case =>
  inSteps(title, async (w) => {
    const { roundId } = await placeBet(w);
    expectOk(await w.credit({ roundId }));
    return () => expectChange(w, 0n, async () => expectRefusal(await w[operation]({ roundId })));
  });

const withoutField = (callback: 'debit' | 'credit' | 'rollback', names: readonly string[]): Case =>
  testCase(`a ${callback} without one of its fields is wrong syntax`, async (w) => {
    for (const name of names) {
      const reply = await w[callback]({ requestId: 'r', [name]: undefined });
      check(expectStatus(reply, 'ERROR_WRONG_SYNTAX').requestId === 'r', 'requestId must be repeated');
    }
  });

export const errors: Group = {
  title: 'Errors',
  cases: [
    testCase('an unknown player is refused everywhere', async (w) => {
      const playerId = `nobody ${randomUUID()}`;
      for (const callback of ['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const)
        expectRefusal(await w[callback]({ playerId }));
    }),
    changing('a bet beyond the balance is refused', 0n, async (w) =>
      expectStatus(await w.debit({ amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY'),
    ),
    testCase('a balance given with ERROR_NOT_ENOUGH_MONEY is the right one', async (w) => {
      const before = await w.money();
      const { balance } = expectStatus(
        await w.debit({ amount: '9999999999999.99' }),
        'ERROR_NOT_ENOUGH_MONEY',
      );
      if (balance !== undefined) expectAmount(minorOf(balance) ?? -1n, before, 'balance');
    }),
    testCase('a launch of an unknown game is refused', async (w) =>
      expectStatus(await w.authenticate({ gameCode: `no game ${randomUUID()}` }), 'ERROR_INVALID_GAME'),
    ),
    changing('a bet in an unknown game is refused', 0n, async (w) =>
      expectStatus(await w.debit({ gameCode: `no game ${randomUUID()}` }), 'ERROR_INVALID_GAME'),
    ),
    testCase("a launch in another currency than the wallet's is refused", async (w) =>
      expectStatus(await w.authenticate({ currency: 'XTS' }), 'ERROR_WRONG_CURRENCY'),
    ),
    testCase('a rollback of an unknown debit is OK and moves nothing', (w) =>
      expectMove(w, 0n, () => w.rollback()),
    ),
    inSteps('a debit that comes after its rollback is refused', async (w) => {
      const debit = newIds();
      await expectMove(w, 0n, () => w.rollback(reversalOf(debit)));
      return () =>
        expectChange(w, 0n, async () => {
          expectRefusal(await w.debit(debit));
          expectRefusal(await w.debit(debit));
        });
    }),
    changing('a rollback of a credit moves nothing and is not OK', 100n, async (w) => {
      const credit = newIds();
      expectOk(await w.credit({ ...credit, roundClosed: false }));
      expectStatus(await w.rollback(reversalOf(credit)), 'ERROR_TRANSACTION_DOES_NOT_EXIST');
    }),
    testCase('a rollback that names another round than its debit reverses the debit', async (w) => {
      const debit = await placeBet(w);
      await expectMove(w, 100n, () => w.rollback({ reverseTransactionId: debit.transactionId }));
    }),
    inClosedRound('debit', 'a debit in a closed round is refused'),
    inClosedRound('credit', 'a new credit in a closed round is refused'),
    withoutField('debit', ['playerId', 'transactionId', 'roundId', 'gameCode', 'amount']),
    withoutField('credit', ['playerId', 'transactionId', 'roundId', 'gameId', 'amount', 'roundClosed']),
    withoutField('rollback', [
      'playerId',
      'transactionId',
      'reverseTransactionId',
      'roundId',
      'gameId',
      'roundClosed',
    ]),
  ],
};
