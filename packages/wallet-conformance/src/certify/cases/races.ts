import { decimal } from '@platform/wallet-protocol/money';
import {
  expectAmount,
  changing,
  check,
  expectOk,
  expectStatus,
  placeBet,
  reversalOf,
  times,
  type Group,
} from '../expect.ts';
import { newIds } from '../wallet.ts';

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
