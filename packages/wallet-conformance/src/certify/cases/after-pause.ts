import { randomUUID } from 'node:crypto';
import {
  amounts,
  expectChange,
  expectOk,
  expectRefusal,
  expectRollback,
  expectStatus,
  newIds,
  type CaseWithPause,
} from '../expect.ts';

const again = (operation: 'debit' | 'credit' | 'rollback'): CaseWithPause => ({
  title: `a ${operation} that is repeated after a pause is not applied again and gets the first answer`,
  begin: async (w) => {
    const fields = { ...newIds(), reverseTransactionId: randomUUID() };
    const first = expectOk(await w[operation](fields));
    return () =>
      expectChange(w, 0n, async () =>
        amounts(expectOk(await w[operation](fields)), first, 'balance of the repeat'),
      );
  },
});

/** What a wallet must still know after a pause. */
export const afterPause: readonly CaseWithPause[] = [
  again('debit'),
  again('credit'),
  again('rollback'),
  {
    title: 'a transactionId that was used before a pause is a duplicate with another amount',
    begin: async (w) => {
      const fields = newIds();
      expectOk(await w.debit(fields));
      return () =>
        expectChange(w, 0n, async () =>
          expectStatus(await w.debit({ ...fields, amount: '1.01' }), 'ERROR_DUPLICATE_TRANSACTION'),
        );
    },
  },
  {
    title: 'a rollback after a pause gives its debit back',
    begin: async (w) => {
      const { transactionId, roundId } = newIds();
      expectOk(await w.debit({ transactionId, roundId }));
      return () => expectRollback(w, 100n, { roundId, reverseTransactionId: transactionId });
    },
  },
  {
    title: 'a debit that comes a pause after its rollback is refused',
    begin: async (w) => {
      const debit = newIds();
      expectOk(await w.rollback({ roundId: debit.roundId, reverseTransactionId: debit.transactionId }));
      return () => expectChange(w, 0n, async () => expectRefusal(await w.debit(debit)));
    },
  },
  {
    title: 'a round that was closed before a pause takes neither a debit nor a credit',
    begin: async (w) => {
      const { roundId } = newIds();
      expectOk(await w.debit({ roundId }));
      expectOk(await w.credit({ roundId }));
      return () =>
        expectChange(w, 0n, async () => {
          expectRefusal(await w.debit({ roundId }));
          expectRefusal(await w.credit({ roundId }));
        });
    },
  },
];
