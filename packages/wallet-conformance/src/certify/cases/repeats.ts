import { randomUUID } from 'node:crypto';
import { decimal } from '@platform/wallet-protocol/money';
import {
  changing,
  check,
  expectAmount,
  expectChange,
  expectMove,
  expectOk,
  expectStatus,
  inSteps,
  placeBet,
  reversalOf,
  testCase,
  times,
  type Case,
  type Group,
  type Ids,
} from '../expect.ts';
import { newIds, type Fields, type Wallet } from '../wallet.ts';

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
            expectAmount(expectOk(await w[operation](fields)), first, 'balance of the repeat');
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

const reused = (first: Operation, second: Operation): Case =>
  testCase(`the transactionId of a ${first} can't be that of a ${second}`, async (w) => {
    const fields = { ...newIds(), reverseTransactionId: randomUUID() };
    expectOk(await w[first](fields));
    await expectChange(w, 0n, async () =>
      expectStatus(await w[second](fields), 'ERROR_DUPLICATE_TRANSACTION'),
    );
  });

/** The same debit by the player and by the other player, whose answer is `expected`, twice. */
const debitByBoth = async (w: Wallet, expected: string): Promise<void> => {
  const debit = await placeBet(w);
  for (let copy = 0; copy < 2; copy++)
    expectStatus(await w.debit({ ...debit, playerId: w.target.otherPlayer }), expected);
  expectOk(await w.debit(debit));
};

/** The other player's rollback of a debit with these ids. */
const reverseByOther = async (w: Wallet, debit: Ids): Promise<void> =>
  void expectOk(await w.rollback({ ...reversalOf(debit), playerId: w.target.otherPlayer }));

/** A case that needs a second player, for backends whose transaction ids have this scope. */
const ofTwoPlayers = (scope: 'global' | 'player', twoPlayers: Case): Case => ({
  ...twoPlayers,
  applies: ({ otherPlayer, transactionIds = 'global' }) =>
    otherPlayer !== undefined && transactionIds === scope,
});

export const idempotency: Group = {
  title: 'Idempotency',
  cases: [
    again('debit'),
    again('credit'),
    again('rollback'),
    changing('a repeated rollback of a debit gives it back once', 0n, async (w) => {
      const debit = await placeBet(w);
      const reversal = { ...newIds(), ...reversalOf(debit) };
      for (let copy = 0; copy < 3; copy++) expectOk(await w.rollback(reversal));
    }),
    changing('a second rollback of the same debit, with another id, gives nothing', 0n, async (w) => {
      const debit = await placeBet(w);
      await expectMove(w, 100n, () => w.rollback(reversalOf(debit)));
      await expectMove(w, 0n, () => w.rollback(reversalOf(debit)));
    }),
    changing('an amount written differently is the same amount', -500n, async (w) => {
      const fields = newIds();
      for (const amount of ['5', '5.0', '5.00']) expectOk(await w.debit({ ...fields, amount }));
    }),
    changing('metadata does not make a request another one', -100n, async (w) => {
      const fields = newIds();
      for (const metadata of ['{}', '{"a":1}']) expectOk(await w.debit({ ...fields, metadata }));
    }),
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
    ofTwoPlayers(
      'global',
      changing('a transactionId of another player is a duplicate', -100n, (w) =>
        debitByBoth(w, 'ERROR_DUPLICATE_TRANSACTION'),
      ),
    ),
    ofTwoPlayers(
      'player',
      changing('a transactionId of another player is a transaction of its own', -100n, (w) =>
        debitByBoth(w, 'OK'),
      ),
    ),
    ofTwoPlayers(
      'player',
      changing(
        "a rollback does not reverse another player's debit of the same transactionId",
        -100n,
        async (w) => reverseByOther(w, await placeBet(w)),
      ),
    ),
    ofTwoPlayers(
      'player',
      changing(
        "a rollback before the other player's debit does not refuse a debit or credit of the same transactionId",
        0n,
        async (w) => {
          const [debit, credit] = [newIds(), newIds()];
          for (const ids of [debit, credit]) await reverseByOther(w, ids);
          expectOk(await w.debit(debit));
          expectOk(await w.credit({ ...credit, roundId: debit.roundId }));
        },
      ),
    ),
    changing('a refused attempt does not use its transactionId up', -100n, async (w) => {
      const fields = newIds();
      expectStatus(await w.debit({ ...fields, amount: '9999999999999.99' }), 'ERROR_NOT_ENOUGH_MONEY');
      expectOk(await w.debit(fields));
    }),
  ],
};

export const races: Group = {
  title: 'Races',
  cases: [
    changing('20 copies of a debit at once are one debit with one answer', -100n, async (w) => {
      const debit = newIds();
      const balances = (await times(20, () => w.debit(debit))).map(expectOk);
      check(new Set(balances).size === 1, 'the copies were answered with different balances');
    }),
    changing('20 copies of a credit at once are one credit', 100n, async (w) => {
      const credit = newIds();
      for (const reply of await times(20, () => w.credit(credit))) expectOk(reply);
    }),
    changing('20 copies of a rollback at once give back once', 0n, async (w) => {
      const debit = await placeBet(w);
      const reversal = { ...newIds(), ...reversalOf(debit) };
      for (const reply of await times(20, () => w.rollback(reversal))) expectOk(reply);
    }),
    changing('10 rollbacks of one debit, each with its own id, give back once', 0n, async (w) => {
      const debit = await placeBet(w);
      const reversal = reversalOf(debit);
      for (const reply of await times(10, () => w.rollback(reversal))) expectOk(reply);
    }),
    changing('a debit and its rollback at once come to nothing, in either order', 0n, async (w) => {
      await times(10, async (index) => {
        const debit = newIds();
        const reversal = reversalOf(debit);
        const both = [() => w.debit(debit), async () => expectOk(await w.rollback(reversal))];
        await Promise.all((index % 2 === 0 ? both : both.toReversed()).map((send) => send()));
      });
    }),
    changing('40 different debits at once are 40 debits', -40n, async (w) => {
      for (const reply of await times(40, () => w.debit({ amount: '0.01' }))) expectOk(reply);
    }),
    changing('debits and credits at once lose nothing', 0n, async (w) => {
      const { roundId } = newIds();
      // Some operators pay no win in a round without a bet.
      expectOk(await w.debit({ roundId, amount: '0' }));
      const fields = { roundId, amount: '0.05', roundClosed: false };
      const replies = await times(30, (index) => (index % 2 === 0 ? w.debit(fields) : w.credit(fields)));
      for (const reply of replies) expectOk(reply);
    }),
    changing('of bets that the balance allows only once, one is taken', 0n, async (w) => {
      const before = await w.money();
      const amount = decimal((before * 6n) / 10n);
      const debits = Array.from({ length: 8 }, newIds);
      const replies = await times(8, (index) => w.debit({ ...debits[index], amount }));
      const taken = debits.filter((_, index) => replies[index]?.status === 'OK');
      for (const reply of replies) expectStatus(reply, 'OK', 'ERROR_NOT_ENOUGH_MONEY');
      expectAmount(BigInt(taken.length), 1n, 'bets taken');
      for (const debit of taken) expectOk(await w.rollback(reversalOf(debit)));
    }),
  ],
};
