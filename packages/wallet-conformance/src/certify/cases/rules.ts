import {
  changing,
  check,
  expectAmount,
  expectMove,
  expectOk,
  expectStatus,
  inSteps,
  placeBet,
  reversalOf,
  testCase,
  type Case,
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

const idOf = (title: string, id: string): Case =>
  changing(`ids may be ${title}`, 0n, async (w) => {
    const { transactionId } = newIds();
    const unique = id + transactionId.slice(0, 255 - [...id].length);
    expectOk(await w.debit({ transactionId: unique, roundId: unique }));
    expectOk(await w.credit({ roundId: unique }));
  });

const amountOf = (amount: string, minor: bigint): Case =>
  changing(`an amount may be written "${amount}"`, -minor, async (w) => expectOk(await w.debit({ amount })));

export const edgeCases: Group = {
  title: 'Edge cases',
  cases: [
    idOf('255 characters long', 'x'.repeat(219)),
    idOf('emoji', '🎲🎰👩‍👩‍👧'),
    idOf('of any script', 'Пример-例え-مثال-'),
    idOf('full of spaces and quotes', ` "'\\ `),
    changing('an id of 256 characters is wrong syntax', 0n, async (w) =>
      expectStatus(await w.debit({ transactionId: 'x'.repeat(256) }), 'ERROR_WRONG_SYNTAX'),
    ),
    changing('ids that look alike are different ids', -300n, async (w) => {
      const { transactionId } = newIds();
      for (const id of [`\u00e9${transactionId}`, `e\u0301${transactionId}`, `E\u0301${transactionId}`])
        expectOk(await w.debit({ transactionId: id }));
    }),
    amountOf('0', 0n),
    amountOf('0.01', 1n),
    amountOf('1', 100n),
    amountOf('1.5', 150n),
    changing('a hundred cents are one', -100n, async (w) => {
      const before = await w.money();
      let last = before;
      for (let cent = 0; cent < 100; cent++) last = expectOk(await w.debit({ amount: '0.01' }));
      expectAmount(last, before - 100n, 'balance in the last answer');
    }),
    changing('0.10 and 0.20 are 0.30', -30n, async (w) => {
      expectOk(await w.debit({ amount: '0.10' }));
      expectOk(await w.debit({ amount: '0.20' }));
    }),
    changing('fields nobody knows are ignored', -100n, async (w) =>
      expectOk(await w.debit({ extra: { deep: [1, null] }, status: 'OK', balance: '0' })),
    ),
    changing('metadata may be long and need not be JSON', -100n, async (w) =>
      expectOk(await w.debit({ metadata: 'not json '.repeat(2000) })),
    ),
    testCase('a credit in a round that no debit opened moves all of it or nothing', async (w) => {
      const before = await w.money();
      const { status } = expectStatus(await w.credit(), 'OK', 'ERROR_TRANSACTION_DOES_NOT_EXIST');
      expectAmount(await w.money(), status === 'OK' ? before + 100n : before, 'balance afterwards');
    }),
  ],
};
