import {
  expectAmount,
  changing,
  check,
  expectMove,
  expectOk,
  expectStatus,
  inSteps,
  placeBet,
  reversalOf,
  testCase,
  type Group,
} from '../expect.ts';
import { newIds } from '../wallet.ts';

export const happyPath: Group = {
  title: 'Happy path',
  cases: [
    testCase('authenticate gives the balance', async (w) =>
      expectAmount(expectOk(await w.authenticate()), await w.money(), 'balance'),
    ),
    testCase('authenticate repeats the currency of the request, if it gives one', async (w) => {
      const { accountCurrency } = expectStatus(await w.authenticate(), 'OK');
      check(
        accountCurrency === undefined || accountCurrency === w.target.currency,
        'accountCurrency differs',
      );
    }),
    ...(['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const).map((callback) =>
      testCase(`${callback} repeats the requestId`, async (w) => {
        const { requestId } = await w[callback]({ requestId: `certify ${callback} ünï` });
        check(requestId === `certify ${callback} ünï`, `requestId came back as ${String(requestId)}`);
      }),
    ),
    testCase('a debit takes the bet and tells the balance after it', (w) =>
      expectMove(w, -250n, () => w.debit({ amount: '2.50' })),
    ),
    testCase('a credit pays the win and tells the balance after it', async (w) => {
      const { roundId } = newIds();
      expectOk(await w.debit({ roundId, amount: '0.01' }));
      await expectMove(w, 300n, () => w.credit({ roundId, amount: '3.00' }));
    }),
    changing('a credit of "0" ends a lost round', -100n, async (w) => {
      const { roundId } = await placeBet(w);
      expectOk(await w.credit({ roundId, amount: '0' }));
    }),
    inSteps('a rollback gives a debit back and tells the balance after it', async (w) => {
      const debit = await placeBet(w);
      return () => expectMove(w, 100n, () => w.rollback(reversalOf(debit)));
    }),
    testCase('a rollback may close its round', async (w) => {
      const debit = await placeBet(w);
      await expectMove(w, 100n, () => w.rollback({ ...reversalOf(debit), roundClosed: true }));
    }),
    changing('a round takes several debits (doubles, splits, insurance)', -300n, async (w) => {
      const { roundId } = newIds();
      for (let bet = 0; bet < 3; bet++) expectOk(await w.debit({ roundId }));
      expectOk(await w.credit({ roundId, amount: '0' }));
    }),
    changing('a round takes several credits, the last one closes it', 200n, async (w) => {
      const { roundId } = await placeBet(w);
      expectOk(await w.credit({ roundId, roundClosed: false }));
      expectOk(await w.credit({ roundId, amount: '2.00' }));
    }),
  ],
};
