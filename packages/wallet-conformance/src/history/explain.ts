import { decimal } from '@platform/wallet-protocol/money';
import type { Call } from './call.ts';
import type { Violation } from './judge.ts';

const time = (micros: number, from: number): string => `${((micros - from) / 1000).toFixed(2)} ms`;

interface Transaction {
  id: string;
  /** Signed, in minor units. */
  amount: number;
}

/** The transactions of a history that move money. */
const transactionsOf = (calls: readonly Call[]): Transaction[] => {
  const moves = new Map<string, Transaction>();
  for (const { operation, transaction: id = '', amount = 0 } of calls)
    if (operation === 'debit' || operation === 'credit')
      moves.set(id, { id, amount: operation === 'debit' ? -amount : amount });
  return [...moves.values()];
};

/** How often each transaction must count so that they add up to `sum`; the simplest such way. */
const summands = (
  transactions: readonly Transaction[],
  sum: number,
  counts: readonly number[],
): number[] | undefined => {
  const [first, ...rest] = transactions;
  if (first === undefined) return sum === 0 ? [] : undefined;
  for (const count of counts) {
    const others = summands(rest, sum - count * first.amount, counts);
    if (others !== undefined) return [count, ...others];
  }
  return undefined;
};

/** More transactions than these are too many to try all combinations of two, or of four, counts. */
const [most, mostOfFour] = [12, 7];

/** What a balance is made of, as a text; each transaction counts once or not at all in a sound wallet. */
const derivation = (balance: number, opening: number, transactions: readonly Transaction[]): string => {
  if (transactions.length > most) return '';
  const once = summands(transactions, balance - opening, [0, 1]);
  const isFew = transactions.length <= mostOfFour;
  const counts = once ?? (isFew ? summands(transactions, balance - opening, [0, 1, 2, -1]) : undefined);
  if (counts === undefined) return isFew ? ', which no combination of the transactions gives' : '';
  const parts = transactions.flatMap(({ id, amount }, at) => {
    const count = counts[at] ?? 0;
    if (count === 0) return [];
    const sign = amount * count < 0 ? '−' : '+';
    return [`${sign} ${Math.abs(count) === 1 ? '' : `${Math.abs(count)} × `}${id}`];
  });
  return ` = opening balance ${parts.length === 0 ? 'unchanged' : parts.join(' ')}`;
};

const asked = ({ operation, transaction, reverses, amount }: Call): string => {
  if (operation === 'balance') return 'balance';
  if (operation === 'rollback') return `rollback ${transaction} of ${reverses}`;
  return `${operation} ${transaction} of ${decimal(amount ?? 0)}`;
};

/** A violation in words, a line for each call that matters. */
export const explain = ({ player, history, opening, calls, contradiction }: Violation): string[] => {
  const from = Math.min(...calls.map(({ sent }) => sent));
  const transactions = transactionsOf(calls);
  const lines = contradiction.map((call, at) => {
    const { sent, answered, status, balance } = call;
    const shown =
      balance === null ? '' : `, balance ${decimal(balance)}${derivation(balance, opening, transactions)}`;
    return `  ${at + 1}. ${asked(call)}: sent at ${time(sent, from)}, answered at ${time(answered ?? sent, from)} with ${status}${shown}`;
  });
  const others = calls.length - contradiction.length;
  return [
    `Player ${player}, history ${history}: no order of the calls explains these answers together.`,
    `  Opening balance ${decimal(opening)}.`,
    ...lines,
    ...(others === 0 ? [] : [`  It does not matter what became of the other ${others} calls.`]),
  ];
};
