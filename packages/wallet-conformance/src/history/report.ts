import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { decimal } from '@platform/wallet-protocol/money';
import { escapeXml } from '../xml.ts';
import { parseCall, type Call } from './call.ts';
import type { Verdict, Violation } from './judge.ts';

const timeText = (micros: number, from: number): string => `${((micros - from) / 1000).toFixed(2)} ms`;

interface Transaction {
  id: string;
  /** Signed, in minor units. */
  amount: number;
  /** How often a correct wallet may add it to the opening balance: 0 or 1 times; −1 for a reversed earlier one. */
  usualCounts: readonly number[];
}

/** The debits and credits of a history, and those of earlier histories that it names. */
const transactionsOf = ({ calls, earlier }: Violation): Transaction[] => {
  const transactions = new Map<string, Transaction>();
  const add = (usualCounts: readonly number[], call: Call): void => {
    const { operation, transaction: id = '', amount = 0 } = call;
    if (operation === 'debit' || operation === 'credit')
      transactions.set(id, { id, amount: operation === 'debit' ? -amount : amount, usualCounts });
  };
  for (const call of calls) add([0, 1], call);
  for (const call of earlier) add([0, -1], call);
  return [...transactions.values()];
};

/** Finds how often each transaction must count so that the amounts add up to `sum`. Tries the counts in their order. */
const findCounts = (
  transactions: readonly Transaction[],
  sum: number,
  countsOf: (transaction: Transaction) => readonly number[],
): number[] | undefined => {
  const [first, ...remaining] = transactions;
  if (first === undefined) return sum === 0 ? [] : undefined;
  for (const count of countsOf(first)) {
    const others = findCounts(remaining, sum - count * first.amount, countsOf);
    if (others !== undefined) return [count, ...others];
  }
  return undefined;
};

/** Maximum of transactions for which all combinations of the two usual counts are tried. */
const maxForUsualCounts = 12;
/** Maximum of transactions for which all combinations of four counts are tried. */
const maxForAllCounts = 7;

/** Explains a balance as the opening balance plus transactions, such as ` = opening balance − d`. */
const explainBalance = (balance: number, opening: number, transactions: readonly Transaction[]): string => {
  if (transactions.length > maxForUsualCounts) return '';
  const isFew = transactions.length <= maxForAllCounts;
  let counts = findCounts(transactions, balance - opening, ({ usualCounts }) => usualCounts);
  if (isFew) counts ??= findCounts(transactions, balance - opening, () => [0, 1, -1, 2]);
  if (counts === undefined) return isFew ? ', which no combination of the transactions gives' : '';
  const terms = transactions.flatMap(({ id, amount }, index) => {
    const count = counts[index] ?? 0;
    if (count === 0) return [];
    const sign = amount * count < 0 ? '−' : '+';
    return [`${sign} ${Math.abs(count) === 1 ? '' : `${Math.abs(count)} × `}${id}`];
  });
  return ` = opening balance ${terms.length === 0 ? 'unchanged' : terms.join(' ')}`;
};

const describeCall = ({ operation, transaction, reverses, amount, closes }: Call): string => {
  if (operation === 'balance') return 'balance';
  const closing = closes ? ', which closes its round' : '';
  if (operation === 'rollback') return `rollback ${transaction} of ${reverses}${closing}`;
  return `${operation} ${transaction} of ${decimal(amount ?? 0)}${closing}`;
};

/** Describes a violation as text, with a line for each contradicting call. */
export const explain = (violation: Violation): string[] => {
  const { player, history, opening, calls, contradiction } = violation;
  const from = Math.min(...calls.map(({ sent }) => sent));
  const transactions = transactionsOf(violation);
  const lines = contradiction.map((call, index) => {
    const { sent, answered, status, balance } = call;
    const times = `sent at ${timeText(sent, from)}, answered at ${timeText(answered ?? sent, from)}`;
    const line = `  ${index + 1}. ${describeCall(call)}: ${times} with ${status}`;
    if (balance === null) return line;
    return `${line}, balance ${decimal(balance)}${explainBalance(balance, opening, transactions)}`;
  });
  const others = calls.length - contradiction.length;
  return [
    `Player ${player}, history ${history}: no order of the calls explains these answers together.`,
    `  Opening balance ${decimal(opening)}.`,
    ...lines,
    ...(others === 0 ? [] : [`  The contradiction does not depend on the other ${others} calls.`]),
  ];
};

/** Pixels of the picture. */
const width = 900;
const labelWidth = 260;
const rowHeight = 26;

const labelOf = ({ operation, transaction = '', reverses }: Call): string =>
  `${operation} ${transaction}${reverses === undefined ? '' : ` of ${reverses}`}`.trim();

const answerText = ({ status, balance }: Call): string => {
  if (status === null) return 'no answer';
  return balance === null ? status : `${status} ${decimal(balance)}`;
};

/**
 * Draws a violation as an SVG document: a row per call, with a bar from the time it was sent to its answer. Calls that
 * contradict each other are red.
 */
export const picture = ({ player, history, calls, contradiction }: Violation): string => {
  const from = Math.min(...calls.map(({ sent }) => sent));
  const to = Math.max(...calls.map(({ sent, answered }) => answered ?? sent), from + 1);
  const x = (time: number): number => labelWidth + ((time - from) / (to - from)) * (width - labelWidth - 150);
  const height = (calls.length + 2) * rowHeight;
  const bars = calls.map((call, index) => {
    const y = (index + 1) * rowHeight + 6;
    const start = x(call.sent);
    const end = Math.max(start + 3, x(call.answered ?? to));
    const color = contradiction.includes(call) ? '#c62828' : '#90a4ae';
    const dashes = call.answered === null ? ' stroke-dasharray="4 3" fill-opacity="0.15"' : '';
    return [
      `<text x="8" y="${y + 12}">${escapeXml(labelOf(call))}</text>`,
      `<rect x="${start.toFixed(1)}" y="${y}" width="${(end - start).toFixed(1)}" height="16" rx="3" fill="${color}" stroke="${color}"${dashes}/>`,
      `<text x="${(end + 6).toFixed(1)}" y="${y + 12}">${escapeXml(answerText(call))}</text>`,
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="8" y="18" font-weight="bold">${escapeXml(`Player ${player}, history ${history}`)}: ${((to - from) / 1000).toFixed(2)} ms from left to right</text>`,
    ...bars,
    '</svg>',
    '',
  ].join('\n');
};

/** Reads a recorded file with one call per line. Throws an Error that names the first invalid line. */
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

/** Maximum of violations that are described; the others are only counted. */
const maxDescribed = 10;

/** Describes the verdict as text, and writes an SVG file next to `file` for each described violation. */
export const reportVerdict = async (verdict: Verdict, file: string): Promise<string> => {
  const { calls, histories, notJudged, violations } = verdict;
  const lines = violations.slice(0, maxDescribed).flatMap((violation) => [...explain(violation), '']);
  for (const [index, violation] of violations.slice(0, maxDescribed).entries()) {
    const svg = `${file}.${index + 1}.svg`;
    await writeFile(svg, picture(violation));
    lines.push(`  Picture ${index + 1}: ${svg}`);
  }
  return [
    ...lines,
    ...notJudged.slice(0, maxDescribed).map((reason) => `Not judged: ${reason}`),
    `${calls} calls in ${histories} histories: ${violations.length} violations, ${notJudged.length} not judged.`,
  ].join('\n');
};

/** 0: every history was judged and none has a violation; 1: violations; 2: some history was not judged, or there is none. */
export const exitCodeOf = ({ histories, notJudged, violations }: Verdict): 0 | 1 | 2 => {
  if (violations.length > 0) return 1;
  return histories === 0 || notJudged.length > 0 ? 2 : 0;
};
