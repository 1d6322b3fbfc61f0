import type { Wallet } from './api.ts';
import { readAll, type Session } from './session.ts';
import { decimalOf } from './text.ts';

type Line = Wallet['SummaryLine'];

const changes = [
  'bets',
  'wins',
  'promotionalWins',
  'reversals',
  'grossRevenue',
  'deposits',
  'withdrawals',
  'adjustments',
] as const satisfies readonly (keyof Line)[];

const minorOf = (amount: string): bigint => BigInt(amount.replace('.', ''));

/** Total of a currency: the first opening balance, the sums of the changes, and the closing balance. Days are sorted oldest first. */
const totalOf = (lines: readonly [Line, ...Line[]], first: string): Line => {
  const sumOf = (name: (typeof changes)[number]): bigint =>
    lines.reduce((sum, line) => sum + minorOf(line[name]), 0n);
  // A day without a row has the balance 0.
  const opening = lines[0].day === first ? minorOf(lines[0].opening) : 0n;
  const closing =
    opening +
    sumOf('wins') +
    sumOf('reversals') +
    sumOf('deposits') +
    sumOf('adjustments') -
    sumOf('bets') -
    sumOf('withdrawals');
  return {
    ...lines[0],
    day: '',
    gameCode: null,
    ...(Object.fromEntries(changes.map((name) => [name, decimalOf(String(sumOf(name)))])) as Pick<
      Line,
      (typeof changes)[number]
    >),
    opening: decimalOf(String(opening)),
    closing: decimalOf(String(closing)),
    complete: lines.every(({ complete }) => complete),
  };
};

/** A total of all days for each currency. */
export const totalsOf = (lines: readonly Line[], first: string): Line[] =>
  [...Map.groupBy(lines, ({ currency }) => currency).values()].flatMap(([line, ...others]) =>
    line === undefined ? [] : [totalOf([line, ...others], first)],
  );

/** Reads all days by currency, independently of the grouping of the rows, and adds them up. */
export const readTotals = async (
  session: Session,
  { from = '', to = '' }: Readonly<Record<string, string>>,
): Promise<Line[]> => totalsOf(await readAll<Line>(session, '/v1/audit/summary', { from, to }), from);
