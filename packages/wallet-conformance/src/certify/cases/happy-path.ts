import {
  amounts,
  check,
  newIds,
  expectOk,
  expectChange,
  expectMove,
  expectStatus,
  inSteps,
  type Group,
} from '../expect.ts';

export const happyPath: Group = {
  title: 'Happy path',
  cases: [
    {
      title: 'authenticate gives the balance',
      run: async (w) => amounts(expectOk(await w.authenticate()), await w.money(), 'balance'),
    },
    {
      title: 'authenticate repeats the currency of the request, if it gives one',
      run: async (w) => {
        const { accountCurrency } = expectStatus(await w.authenticate(), 'OK');
        check(
          accountCurrency === undefined || accountCurrency === w.target.currency,
          'accountCurrency differs',
        );
      },
    },
    ...(['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const).map((callback) => ({
      title: `${callback} repeats the requestId`,
      run: async (w: Parameters<Group['cases'][number]['run']>[0]) => {
        const { requestId } = await w[callback]({ requestId: `certify ${callback} ünï` });
        check(requestId === `certify ${callback} ünï`, `requestId came back as ${String(requestId)}`);
      },
    })),
    {
      title: 'a debit takes the bet and tells the balance after it',
      run: (w) => expectMove(w, -250n, () => w.debit({ amount: '2.50' })),
    },
    {
      title: 'a credit pays the win and tells the balance after it',
      run: async (w) => {
        const { roundId } = newIds();
        expectOk(await w.debit({ roundId, amount: '0.01' }));
        await expectMove(w, 300n, () => w.credit({ roundId, amount: '3.00' }));
      },
    },
    {
      title: 'a credit of "0" ends a lost round',
      run: (w) =>
        expectChange(w, -100n, async () => {
          const { transactionId, roundId } = newIds();
          expectOk(await w.debit({ transactionId, roundId }));
          expectOk(await w.credit({ roundId, amount: '0' }));
        }),
    },
    inSteps('a rollback gives a debit back and tells the balance after it', async (w) => {
      const { transactionId, roundId } = newIds();
      expectOk(await w.debit({ transactionId, roundId }));
      return () => expectMove(w, 100n, () => w.rollback({ roundId, reverseTransactionId: transactionId }));
    }),
    {
      title: 'a rollback may close its round',
      run: async (w) => {
        const { transactionId, roundId } = newIds();
        expectOk(await w.debit({ transactionId, roundId }));
        await expectMove(w, 100n, () =>
          w.rollback({ roundId, reverseTransactionId: transactionId, roundClosed: true }),
        );
      },
    },
    {
      title: 'a round takes several debits (doubles, splits, insurance)',
      run: (w) =>
        expectChange(w, -300n, async () => {
          const { roundId } = newIds();
          for (let bet = 0; bet < 3; bet++) expectOk(await w.debit({ roundId }));
          expectOk(await w.credit({ roundId, amount: '0' }));
        }),
    },
    {
      title: 'a round takes several credits, the last one closes it',
      run: (w) =>
        expectChange(w, 200n, async () => {
          const { roundId } = newIds();
          expectOk(await w.debit({ roundId }));
          expectOk(await w.credit({ roundId, roundClosed: false }));
          expectOk(await w.credit({ roundId, amount: '2.00' }));
        }),
    },
  ],
};
