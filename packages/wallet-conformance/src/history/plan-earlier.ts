import type { Asked } from './call.ts';
import type { Earlier, KnownTransaction } from './earlier.ts';
import { fate, roundState } from './model.ts';

/** Transactions of earlier histories that one history names. */
const perHistory = 3;

/** The calls that may follow a transaction of an earlier history. */
const callsAfter = (
  { id, call, fate: known }: KnownTransaction,
  { rounds }: Earlier,
  newId: () => string,
): Asked[] => {
  // A debit whose rollback came long before it.
  if (call === undefined) return [{ operation: 'debit', transaction: id, round: newId(), amount: 1 }];
  const { operation, transaction = '', reverses, amount, round = '', closes } = call;
  const copy = { operation, transaction, round };
  const calls: Asked[] = [
    operation === 'rollback'
      ? { ...copy, reverses: reverses ?? '', closes: closes ?? false }
      : { ...copy, amount: amount ?? 0, ...(operation === 'credit' && { closes: closes ?? false }) },
  ];
  if (operation === 'debit' || (operation === 'credit' && known === fate.applied))
    calls.push({ operation: 'rollback', transaction: newId(), reverses: id, round, closes: false });
  if (rounds.get(round) === roundState.closed) {
    calls.push({ operation: 'debit', transaction: newId(), round, amount: 1 });
    calls.push({ operation: 'credit', transaction: newId(), round, amount: 1, closes: false });
  }
  return calls;
};

/**
 * Chooses calls that name transactions of earlier histories, however old: copies, rollbacks, debits after their
 * rollback, and moves in a closed round. A right wallet moves nothing for them, but for rollbacks of debits that stand.
 */
export const planEarlier = (earlier: Earlier, random: () => number, newId: () => string): Asked[] => {
  const choose = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  return Array.from({ length: perHistory }, () => choose(earlier.list)).flatMap((known) => {
    const call = known && choose(callsAfter(known, earlier, newId));
    return call === undefined ? [] : [call];
  });
};
