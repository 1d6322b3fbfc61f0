import type { Call } from './call.ts';

/** A callback to send at some time after a history has begun. */
export interface Planned extends Pick<Call, 'operation' | 'transaction' | 'reverses' | 'amount'> {
  /** Milliseconds. */
  at: number;
}

/** How long the calls of a history are spread; short, so that they overlap. */
const spanMs = 20;
/** Calls of one history; with those that open and close it and its repetitions, at most 30 can be judged. */
const maxPlanned = 19;
/** Transactions of one history, without rollbacks. */
const mostTransactions = 7;

/**
 * Chooses the calls of one history: debits and credits of 1, 4, 16, 64 … minor units, so that each balance names the
 * transactions that it includes, and each at most once; copies and rollbacks of some, before, beside and after them;
 * reads; and now and then a debit of the whole balance, which is rolled back.
 * @param balance minor units that the player has
 * @param id makes a transaction id that was never used
 */
export const planHistory = (balance: number, random: () => number, id: () => string): Planned[] => {
  const at = (): number => random() * spanMs;
  const chance = (share: number): boolean => random() < share;
  const count = Math.min(mostTransactions, Math.floor(Math.log(3 * balance + 1) / Math.log(4)));
  const planned: Planned[] = [];
  for (let power = 0; power < count; power++) {
    const transaction = id();
    const isDebit = chance(0.7);
    const move: Planned = {
      operation: isDebit ? 'debit' : 'credit',
      transaction,
      amount: 4 ** power,
      at: at(),
    };
    planned.push(move);
    if (chance(0.3)) planned.push({ ...move, at: at() });
    if (!isDebit || !chance(0.4)) continue;
    const rollback: Planned = { operation: 'rollback', transaction: id(), reverses: transaction, at: at() };
    planned.push(rollback);
    if (chance(0.3)) planned.push({ ...rollback, ...(chance(0.5) && { transaction: id() }), at: at() });
  }
  if (chance(0.25)) {
    const transaction = id();
    planned.push({ operation: 'debit', transaction, amount: balance, at: at() });
    // Gives the money back for the histories to come.
    planned.push({ operation: 'rollback', transaction: id(), reverses: transaction, at: spanMs });
  }
  for (let read = 0; read < 3; read++) planned.push({ operation: 'balance', at: at() });
  return planned.toSorted((a, b) => a.at - b.at).slice(0, maxPlanned);
};
