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

/** Total of the lines of a currency, oldest first: the first opening balance, the sums of the changes, and the closing balance. */
const totalOf = (firstLine: Line, lines: readonly Line[], firstDay: string): Line => {
  const sumOf = (name: (typeof changes)[number]): bigint =>
    lines.reduce((sum, line) => sum + minorOf(line[name]), 0n);
  // A day without a row has the balance 0.
  const opening = firstLine.day === firstDay ? minorOf(firstLine.opening) : 0n;
  const closing =
    opening +
    sumOf('wins') +
    sumOf('reversals') +
    sumOf('deposits') +
    sumOf('adjustments') -
    sumOf('bets') -
    sumOf('withdrawals');
  const total = { ...firstLine };
  for (const name of changes) total[name] = decimalOf(String(sumOf(name)));
  return {
    ...total,
    day: '',
    gameCode: null,
    opening: decimalOf(String(opening)),
    closing: decimalOf(String(closing)),
    complete: lines.every(({ complete }) => complete),
  };
};

/** A total of all days for each currency. */
export const totalsOf = (lines: readonly Line[], firstDay: string): Line[] =>
  [...Map.groupBy(lines, ({ currency }) => currency).values()].flatMap((group) => {
    const [firstLine] = group;
    return firstLine ? totalOf(firstLine, group, firstDay) : [];
  });

/** Reads all days by currency, even if the list is grouped by game, and adds them up. */
export const readTotals = async (
  session: Session,
  { from = '', to = '' }: Readonly<Record<string, string>>,
): Promise<Line[]> => totalsOf(await readAll<Line>(session, '/v1/audit/summary', { from, to }), from);
