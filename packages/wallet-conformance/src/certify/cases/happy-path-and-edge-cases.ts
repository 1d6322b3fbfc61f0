import {
  balanceCase,
  check,
  expectAmount,
  expectMove,
  expectOk,
  expectStatus,
  twoStepCase,
  placeBet,
  reversalOf,
  testCase,
  type Case,
} from '../expect.ts';
import { newIds } from '../wallet.ts';

export const happyPath: Case[] = [
  testCase('authenticate returns the balance', async (w) =>
    expectAmount(expectOk(await w.authenticate()), await w.money(), 'balance'),
  ),
  testCase('an accountCurrency in the answer to authenticate is that of the request', async (w) => {
    const { accountCurrency } = expectStatus(await w.authenticate(), 'OK');
    check(accountCurrency === undefined || accountCurrency === w.target.currency, 'accountCurrency differs');
  }),
  ...(['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const).map((callback) =>
    testCase(`${callback} repeats the requestId`, async (w) => {
      const { requestId } = await w[callback]({ requestId: `certify ${callback} ünï` });
      check(requestId === `certify ${callback} ünï`, `requestId was returned as ${String(requestId)}`);
    }),
  ),
  testCase('a debit takes the bet and returns the new balance', (w) =>
    expectMove(w, -250n, () => w.debit({ amount: '2.50' })),
  ),
  testCase('a credit pays the win and returns the new balance', async (w) => {
    const { roundId } = newIds();
    expectOk(await w.debit({ roundId, amount: '0.01' }));
    await expectMove(w, 300n, () => w.credit({ roundId, amount: '3.00' }));
  }),
  balanceCase('a credit of "0" ends a lost round', -100n, async (w) => {
    const { roundId } = await placeBet(w);
    expectOk(await w.credit({ roundId, amount: '0' }));
  }),
  twoStepCase('a rollback refunds a debit and returns the new balance', async (w) => {
    const debit = await placeBet(w);
    return () => expectMove(w, 100n, () => w.rollback(reversalOf(debit)));
  }),
  testCase('a rollback may close its round', async (w) => {
    const debit = await placeBet(w);
    await expectMove(w, 100n, () => w.rollback({ ...reversalOf(debit), roundClosed: true }));
  }),
  balanceCase('a round may have several debits (doubles, splits, insurance)', -300n, async (w) => {
    const { roundId } = newIds();
    for (let bet = 0; bet < 3; bet++) expectOk(await w.debit({ roundId }));
    expectOk(await w.credit({ roundId, amount: '0' }));
  }),
  balanceCase('a round may have several credits, of which the last closes it', 200n, async (w) => {
    const { roundId } = await placeBet(w);
    expectOk(await w.credit({ roundId, roundClosed: false }));
    expectOk(await w.credit({ roundId, amount: '2.00' }));
  }),
];

const unusualIdCase = (title: string, id: string): Case =>
  balanceCase(`ids may be ${title}`, 0n, async (w) => {
    const { transactionId } = newIds();
    const unique = id + transactionId.slice(0, 255 - [...id].length);
    expectOk(await w.debit({ transactionId: unique, roundId: unique }));
    expectOk(await w.credit({ roundId: unique }));
  });

const amountFormatCase = (amount: string, minor: bigint): Case =>
  balanceCase(`an amount may be written "${amount}"`, -minor, async (w) =>
    expectOk(await w.debit({ amount })),
  );

export const edgeCases: Case[] = [
  unusualIdCase('255 characters long', 'x'.repeat(219)),
  unusualIdCase('emoji', '🎲🎰👩‍👩‍👧'),
  unusualIdCase('of any script', 'Пример-例え-مثال-'),
  unusualIdCase('full of spaces and quotes', ` "'\\ `),
  balanceCase('an id of 256 characters is wrong syntax', 0n, async (w) =>
    expectStatus(await w.debit({ transactionId: 'x'.repeat(256) }), 'ERROR_WRONG_SYNTAX'),
  ),
  balanceCase('ids that look alike are different ids', -300n, async (w) => {
    const { transactionId } = newIds();
    for (const id of [`\u00e9${transactionId}`, `e\u0301${transactionId}`, `E\u0301${transactionId}`])
      expectOk(await w.debit({ transactionId: id }));
  }),
  amountFormatCase('0', 0n),
  amountFormatCase('0.01', 1n),
  amountFormatCase('1', 100n),
  amountFormatCase('1.5', 150n),
  balanceCase('a hundred debits of 0.01 are 1.00', -100n, async (w) => {
    const before = await w.money();
    let last = before;
    for (let cent = 0; cent < 100; cent++) last = expectOk(await w.debit({ amount: '0.01' }));
    expectAmount(last, before - 100n, 'balance in the last answer');
  }),
  balanceCase('0.10 and 0.20 are 0.30', -30n, async (w) => {
    expectOk(await w.debit({ amount: '0.10' }));
    expectOk(await w.debit({ amount: '0.20' }));
  }),
  balanceCase('unknown fields are ignored', -100n, async (w) =>
    expectOk(await w.debit({ extra: { deep: [1, null] }, status: 'OK', balance: '0' })),
  ),
  balanceCase('metadata may be long and need not be JSON', -100n, async (w) =>
    expectOk(await w.debit({ metadata: 'not json '.repeat(2000) })),
  ),
  testCase('a credit in a round without a debit is paid in full or refused', async (w) => {
    const before = await w.money();
    const { status } = expectStatus(await w.credit(), 'OK', 'ERROR_TRANSACTION_DOES_NOT_EXIST');
    expectAmount(await w.money(), status === 'OK' ? before + 100n : before, 'balance afterwards');
  }),
];
