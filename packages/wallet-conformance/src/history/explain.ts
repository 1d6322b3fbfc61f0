import { decimal } from '@platform/wallet-protocol/money';
import type { Call } from './call.ts';
import type { Violation } from './judge.ts';

const time = (micros: number, from: number): string => `${((micros - from) / 1000).toFixed(2)} ms`;

interface Transaction {
  id: string;
  /** Signed, in minor units. */
  amount: number;
  /** How often it may count in a sound wallet, beyond what the opening balance includes. */
  usual: readonly number[];
}

/** The transactions of a history that move money, and those of earlier histories that it names. */
const transactionsOf = ({ calls, earlier }: Violation): Transaction[] => {
  const moves = new Map<string, Transaction>();
  const add = (usual: readonly number[], { operation, transaction: id = '', amount = 0 }: Call): void => {
    if (operation === 'debit' || operation === 'credit')
      moves.set(id, { id, amount: operation === 'debit' ? -amount : amount, usual });
  };
  for (const call of calls) add([0, 1], call);
  for (const call of earlier) add([0, -1], call);
  return [...moves.values()];
};

/** How often each transaction must count so that they add up to `sum`; the simplest such way. */
const summands = (
  transactions: readonly Transaction[],
  sum: number,
  countsOf: (transaction: Transaction) => readonly number[],
): number[] | undefined => {
  const [first, ...rest] = transactions;
  if (first === undefined) return sum === 0 ? [] : undefined;
  for (const count of countsOf(first)) {
    const others = summands(rest, sum - count * first.amount, countsOf);
    if (others !== undefined) return [count, ...others];
  }
  return undefined;
};

/** More transactions than these are too many to try all combinations of two, or of four, counts. */
const [most, mostOfFour] = [12, 7];

/** What a balance is made of, as a text; the usual counts first. */
const derivation = (balance: number, opening: number, transactions: readonly Transaction[]): string => {
  if (transactions.length > most) return '';
  const once = summands(transactions, balance - opening, ({ usual }) => usual);
  const isFew = transactions.length <= mostOfFour;
  const counts = once ?? (isFew ? summands(transactions, balance - opening, () => [0, 1, -1, 2]) : undefined);
  if (counts === undefined) return isFew ? ', which no combination of the transactions gives' : '';
  const parts = transactions.flatMap(({ id, amount }, at) => {
    const count = counts[at] ?? 0;
    if (count === 0) return [];
    const sign = amount * count < 0 ? '−' : '+';
    return [`${sign} ${Math.abs(count) === 1 ? '' : `${Math.abs(count)} × `}${id}`];
  });
  return ` = opening balance ${parts.length === 0 ? 'unchanged' : parts.join(' ')}`;
};

const asked = ({ operation, transaction, reverses, amount, closes }: Call): string => {
  if (operation === 'balance') return 'balance';
  const ending = closes ? ', which closes its round' : '';
  if (operation === 'rollback') return `rollback ${transaction} of ${reverses}${ending}`;
  return `${operation} ${transaction} of ${decimal(amount ?? 0)}${ending}`;
};

/** A violation in words, a line for each call that matters. */
export const explain = (violation: Violation): string[] => {
  const { player, history, opening, calls, contradiction } = violation;
  const from = Math.min(...calls.map(({ sent }) => sent));
  const transactions = transactionsOf(violation);
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
