import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { decimal } from '@platform/wallet-protocol/money';
import { escaped } from '../xml.ts';
import { parseCall, type Call } from './call.ts';
import type { Verdict, Violation } from './judge.ts';

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

const width = 900;
const left = 260;
const row = 26;

const label = ({ operation, transaction = '', reverses }: Call): string =>
  `${operation} ${transaction}${reverses === undefined ? '' : ` of ${reverses}`}`.trim();

const answer = ({ status, balance }: Call): string =>
  status === null ? 'no answer' : `${status}${balance === null ? '' : ` ${(balance / 100).toFixed(2)}`}`;

/**
 * A violation as an SVG document: a bar for each call from the time it was sent to its answer, one below the other, so
 * that overlapping calls stand above each other. Calls that contradict each other are red.
 */
export const picture = ({ player, history, calls, contradiction }: Violation): string => {
  const from = Math.min(...calls.map(({ sent }) => sent));
  const to = Math.max(...calls.map(({ sent, answered }) => answered ?? sent), from + 1);
  const x = (time: number): number => left + ((time - from) / (to - from)) * (width - left - 150);
  const height = (calls.length + 2) * row;
  const bars = calls.map((call, at) => {
    const y = (at + 1) * row + 6;
    const start = x(call.sent);
    const end = Math.max(start + 3, x(call.answered ?? to));
    const color = contradiction.includes(call) ? '#c62828' : '#90a4ae';
    const dashes = call.answered === null ? ' stroke-dasharray="4 3" fill-opacity="0.15"' : '';
    return [
      `<text x="8" y="${y + 12}">${escaped(label(call))}</text>`,
      `<rect x="${start.toFixed(1)}" y="${y}" width="${(end - start).toFixed(1)}" height="16" rx="3" fill="${color}" stroke="${color}"${dashes}/>`,
      `<text x="${(end + 6).toFixed(1)}" y="${y + 12}">${escaped(answer(call))}</text>`,
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="8" y="18" font-weight="bold">${escaped(`Player ${player}, history ${history}`)}: ${((to - from) / 1000).toFixed(2)} ms from left to right</text>`,
    ...bars,
    '</svg>',
    '',
  ].join('\n');
};

/** Reads a recorded file, one call a line. Throws an Error that names the line that cannot be read. */
export const readCalls = async (file: string): Promise<Call[]> => {
  const calls: Call[] = [];
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++;
    if (line === '') continue;
    try {
      calls.push(parseCall(line));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : '';
      throw new Error(`${file}, line ${number}: ${reason}`, { cause });
    }
  }
  return calls;
};

/** More violations than this are counted, not described. */
const maxDescribed = 10;

/** The verdict in words, with a picture of each violation in an SVG file beside `file`. */
export const reportVerdict = async (verdict: Verdict, file: string): Promise<string> => {
  const { calls, histories, unusable, violations } = verdict;
  const lines = violations.slice(0, maxDescribed).flatMap((violation) => [...explain(violation), '']);
  for (const [at, violation] of violations.slice(0, maxDescribed).entries()) {
    const svg = `${file}.${at + 1}.svg`;
    await writeFile(svg, picture(violation));
    lines.push(`  Picture ${at + 1}: ${svg}`);
  }
  return [
    ...lines,
    ...unusable.slice(0, maxDescribed).map((reason) => `Not judged: ${reason}`),
    `${calls} calls in ${histories} histories: ${violations.length} violations, ${unusable.length} not judged.`,
  ].join('\n');
};

/** 0: every history was judged, without a violation; 1: violations; 2: not everything could be judged. */
export const exitCodeOf = ({ histories, unusable, violations }: Verdict): 0 | 1 | 2 => {
  if (violations.length > 0) return 1;
  return histories === 0 || unusable.length > 0 ? 2 : 0;
};
