import { randomUUID } from 'node:crypto';
import { decimal } from '@platform/wallet-protocol/money';
import {
  balanceCase,
  check,
  expectAmount,
  expectChange,
  expectMove,
  expectOk,
  expectStatus,
  twoStepCase,
  placeBet,
  reversalOf,
  testCase,
  sendAtOnce,
  type Case,
  type Ids,
} from '../expect.ts';
import { newIds, type Fields, type Wallet } from '../wallet.ts';

type Operation = 'debit' | 'credit' | 'rollback';

const repeatCase = (operation: Operation): Case =>
  twoStepCase(
    `a repeated ${operation} is applied once and answered with the balance of the first answer`,
    async (w) => {
      const fields = { ...newIds(), reverseTransactionId: randomUUID() };
      const first = expectOk(await w[operation](fields));
      return () =>
        expectChange(w, -1n, async () => {
          // Changes the balance, so that the stored answer differs from a new one.
          expectOk(await w.debit({ amount: '0.01' }));
          for (let copy = 0; copy < 3; copy++)
            expectAmount(expectOk(await w[operation](fields)), first, 'balance of the repeat');
        });
    },
  );

const duplicateCase = (operation: Operation, name: string, change: Fields): Case =>
  twoStepCase(`a ${operation} with a used transactionId and another ${name} is a duplicate`, async (w) => {
    const fields = { ...newIds(), reverseTransactionId: randomUUID() };
    expectOk(await w[operation](fields));
    return () =>
      expectChange(w, 0n, async () =>
        expectStatus(await w[operation]({ ...fields, ...change }), 'ERROR_DUPLICATE_TRANSACTION'),
      );
  });

const reusedIdCase = (first: Operation, second: Operation): Case =>
  testCase(`the transactionId of a ${first} cannot be reused for a ${second}`, async (w) => {
    const fields = { ...newIds(), reverseTransactionId: randomUUID() };
    expectOk(await w[first](fields));
    await expectChange(w, 0n, async () =>
      expectStatus(await w[second](fields), 'ERROR_DUPLICATE_TRANSACTION'),
    );
  });

/** Sends a debit for the player, then twice for the other player, who must get the status `expected`. */
const debitByBoth = async (w: Wallet, expected: string): Promise<void> => {
  const debit = await placeBet(w);
  for (let copy = 0; copy < 2; copy++)
    expectStatus(await w.debit({ ...debit, playerId: w.target.otherPlayer }), expected);
  expectOk(await w.debit(debit));
};

/** Sends a rollback for the other player that names a debit with these ids. */
const reverseByOther = async (w: Wallet, debit: Ids): Promise<void> =>
  void expectOk(await w.rollback({ ...reversalOf(debit), playerId: w.target.otherPlayer }));

/** A balance case that needs a second player; applies to backends whose transaction ids have this scope. */
const twoPlayerCase = (scope: 'global' | 'player', title: string, by: bigint, act: Case['run']): Case => ({
  ...balanceCase(title, by, act),
  applies: ({ otherPlayer, transactionIds = 'global' }) =>
    otherPlayer !== undefined && transactionIds === scope,
});

export const idempotency: Case[] = [
  repeatCase('debit'),
  repeatCase('credit'),
  repeatCase('rollback'),
  balanceCase('a repeated rollback of a debit refunds it once', 0n, async (w) => {
    const debit = await placeBet(w);
    const reversal = { ...newIds(), ...reversalOf(debit) };
    for (let copy = 0; copy < 3; copy++) expectOk(await w.rollback(reversal));
  }),
  balanceCase('a second rollback of the same debit, with another id, refunds nothing', 0n, async (w) => {
    const debit = await placeBet(w);
    await expectMove(w, 100n, () => w.rollback(reversalOf(debit)));
    await expectMove(w, 0n, () => w.rollback(reversalOf(debit)));
  }),
  balanceCase('an amount written differently is the same amount', -500n, async (w) => {
    const fields = newIds();
    for (const amount of ['5', '5.0', '5.00']) expectOk(await w.debit({ ...fields, amount }));
  }),
  balanceCase('a repeat may have different metadata', -100n, async (w) => {
    const fields = newIds();
    for (const metadata of ['{}', '{"a":1}']) expectOk(await w.debit({ ...fields, metadata }));
  }),
  duplicateCase('debit', 'amount', { amount: '1.01' }),
  duplicateCase('debit', 'round', { roundId: 'another round' }),
  duplicateCase('debit', 'game', { gameCode: 'another game' }),
  duplicateCase('credit', 'amount', { amount: '1.01' }),
  duplicateCase('credit', 'roundClosed', { roundClosed: false }),
  duplicateCase('rollback', 'reverseTransactionId', { reverseTransactionId: 'another debit' }),
  duplicateCase('rollback', 'round', { roundId: 'another round' }),
  reusedIdCase('debit', 'credit'),
  reusedIdCase('credit', 'debit'),
  reusedIdCase('debit', 'rollback'),
  twoPlayerCase('global', 'a transactionId of another player is a duplicate', -100n, (w) =>
    debitByBoth(w, 'ERROR_DUPLICATE_TRANSACTION'),
  ),
  twoPlayerCase('player', 'a transactionId of another player is a transaction of its own', -100n, (w) =>
    debitByBoth(w, 'OK'),
  ),
  twoPlayerCase(
    'player',
    "a rollback does not reverse another player's debit of the same transactionId",
    -100n,
    async (w) => reverseByOther(w, await placeBet(w)),
  ),
  twoPlayerCase(
    'player',
    "a rollback before the other player's debit does not refuse a debit or credit of the same transactionId",
    0n,
    async (w) => {
      const [debit, credit] = [newIds(), newIds()];
      for (const ids of [debit, credit]) await reverseByOther(w, ids);
      expectOk(await w.debit(debit));
      expectOk(await w.credit({ ...credit, roundId: debit.roundId }));
    },
  ),
  balanceCase('a refused attempt does not consume its transactionId', -100n, async (w) => {
    const fields = newIds();
    expectStatus(await w.debit({ ...fields, amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY');
    expectOk(await w.debit(fields));
  }),
];

export const races: Case[] = [
  balanceCase('20 simultaneous copies of a debit are one debit with one answer', -100n, async (w) => {
    const debit = newIds();
    const balances = (await sendAtOnce(20, () => w.debit(debit))).map(expectOk);
    check(new Set(balances).size === 1, 'the copies were answered with different balances');
  }),
  balanceCase('20 simultaneous copies of a credit are one credit', 100n, async (w) => {
    const credit = newIds();
    for (const reply of await sendAtOnce(20, () => w.credit(credit))) expectOk(reply);
  }),
  balanceCase('20 simultaneous copies of a rollback refund once', 0n, async (w) => {
    const debit = await placeBet(w);
    const reversal = { ...newIds(), ...reversalOf(debit) };
    for (const reply of await sendAtOnce(20, () => w.rollback(reversal))) expectOk(reply);
  }),
  balanceCase('10 simultaneous rollbacks of one debit, each with its own id, refund once', 0n, async (w) => {
    const debit = await placeBet(w);
    const reversal = reversalOf(debit);
    for (const reply of await sendAtOnce(10, () => w.rollback(reversal))) expectOk(reply);
  }),
  balanceCase('a simultaneous debit and rollback cancel out, in either order', 0n, async (w) => {
    await sendAtOnce(10, async (index) => {
      const debit = newIds();
      const reversal = reversalOf(debit);
      const both = [() => w.debit(debit), async () => expectOk(await w.rollback(reversal))];
      await Promise.all((index % 2 === 0 ? both : both.toReversed()).map((send) => send()));
    });
  }),
  balanceCase('40 simultaneous debits with different ids are 40 debits', -40n, async (w) => {
    for (const reply of await sendAtOnce(40, () => w.debit({ amount: '0.01' }))) expectOk(reply);
  }),
  balanceCase('simultaneous debits and credits lose nothing', 0n, async (w) => {
    const { roundId } = newIds();
    // Some operators refuse a win in a round without a bet.
    expectOk(await w.debit({ roundId, amount: '0' }));
    const fields = { roundId, amount: '0.05', roundClosed: false };
    const replies = await sendAtOnce(30, (index) => (index % 2 === 0 ? w.debit(fields) : w.credit(fields)));
    for (const reply of replies) expectOk(reply);
  }),
  balanceCase(
    'only one of several simultaneous bets is accepted when the balance allows one',
    0n,
    async (w) => {
      const before = await w.money();
      const amount = decimal((before * 6n) / 10n);
      const debits = Array.from({ length: 8 }, newIds);
      const replies = await sendAtOnce(8, (index) => w.debit({ ...debits[index], amount }));
      const accepted = debits.filter((_, index) => replies[index]?.status === 'OK');
      for (const reply of replies) expectStatus(reply, 'OK', 'ERROR_NOT_ENOUGH_MONEY');
      check(accepted.length === 1, `expected one accepted bet, got ${accepted.length}`);
      for (const debit of accepted) expectOk(await w.rollback(reversalOf(debit)));
    },
  ),
];
