import { randomUUID } from 'node:crypto';
import {
  expectAmount,
  balanceCase,
  check,
  expectChange,
  expectMove,
  expectOk,
  expectRefusal,
  expectStatus,
  twoStepCase,
  placeBet,
  reversalOf,
  testCase,
  type Case,
} from '../expect.ts';
import { minorOf, newIds } from '../wallet.ts';

const closedRoundCase = (operation: 'debit' | 'credit', title: string): Case =>
  twoStepCase(title, async (w) => {
    const { roundId } = await placeBet(w);
    expectOk(await w.credit({ roundId }));
    return () => expectChange(w, 0n, async () => expectRefusal(await w[operation]({ roundId })));
  });

const missingFieldCase = (callback: 'debit' | 'credit' | 'rollback', names: readonly string[]): Case =>
  testCase(`a ${callback} without one of its fields is wrong syntax`, async (w) => {
    for (const name of names) {
      const reply = await w[callback]({ requestId: 'r', [name]: undefined });
      check(expectStatus(reply, 'ERROR_WRONG_SYNTAX').requestId === 'r', 'requestId must be repeated');
    }
  });

export const errors: Case[] = [
  testCase('every callback refuses an unknown player', async (w) => {
    const playerId = `nobody ${randomUUID()}`;
    for (const callback of ['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const)
      expectRefusal(await w[callback]({ playerId }));
  }),
  balanceCase('a bet beyond the balance is refused', 0n, async (w) =>
    expectStatus(await w.debit({ amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY'),
  ),
  testCase('a balance in an ERROR_NOT_ENOUGH_MONEY answer is correct', async (w) => {
    const before = await w.money();
    const { balance } = expectStatus(await w.debit({ amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY');
    if (balance !== undefined) expectAmount(minorOf(balance) ?? -1n, before, 'balance');
  }),
  testCase('a launch of an unknown game is refused', async (w) =>
    expectStatus(await w.authenticate({ gameCode: `no game ${randomUUID()}` }), 'ERROR_INVALID_GAME'),
  ),
  balanceCase('a bet in an unknown game is refused', 0n, async (w) =>
    expectStatus(await w.debit({ gameCode: `no game ${randomUUID()}` }), 'ERROR_INVALID_GAME'),
  ),
  testCase("a launch in another currency than the wallet's is refused", async (w) =>
    expectStatus(await w.authenticate({ currency: 'XTS' }), 'ERROR_WRONG_CURRENCY'),
  ),
  testCase('a rollback of an unknown debit is OK and moves nothing', (w) =>
    expectMove(w, 0n, () => w.rollback()),
  ),
  twoStepCase('a debit that arrives after its rollback is refused', async (w) => {
    const debit = newIds();
    await expectMove(w, 0n, () => w.rollback(reversalOf(debit)));
    return () =>
      expectChange(w, 0n, async () => {
        expectRefusal(await w.debit(debit));
        expectRefusal(await w.debit(debit));
      });
  }),
  balanceCase('a rollback of a credit moves nothing and is not OK', 100n, async (w) => {
    const credit = newIds();
    expectOk(await w.credit({ ...credit, roundClosed: false }));
    expectStatus(await w.rollback(reversalOf(credit)), 'ERROR_TRANSACTION_DOES_NOT_EXIST');
  }),
  testCase('a rollback that names another round than its debit still reverses the debit', async (w) => {
    const debit = await placeBet(w);
    await expectMove(w, 100n, () => w.rollback({ reverseTransactionId: debit.transactionId }));
  }),
  closedRoundCase('debit', 'a debit in a closed round is refused'),
  closedRoundCase('credit', 'a new credit in a closed round is refused'),
  missingFieldCase('debit', ['playerId', 'transactionId', 'roundId', 'gameCode', 'amount']),
  missingFieldCase('credit', ['playerId', 'transactionId', 'roundId', 'gameId', 'amount', 'roundClosed']),
  missingFieldCase('rollback', [
    'playerId',
    'transactionId',
    'reverseTransactionId',
    'roundId',
    'gameId',
    'roundClosed',
  ]),
];
