import {
  expectAmount,
  changing,
  expectOk,
  expectStatus,
  testCase,
  type Case,
  type Group,
} from '../expect.ts';
import { newIds } from '../wallet.ts';

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
