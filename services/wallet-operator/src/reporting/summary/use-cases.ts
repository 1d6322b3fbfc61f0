import { type Page, type Slice, slice } from '@platform/pagination/list';
import { Problem } from '@platform/service-kit/problem';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { csvLine } from '@platform/service-kit/csv';
import { decimal } from '@platform/wallet-protocol/money';
import { SummaryLine } from './schema.ts';
import { firstOpenDay, listSums, type SummaryFilter, type SummaryRow } from './queries.ts';

type Line = z.input<typeof SummaryLine>;

const lineOf = (row: SummaryRow, open: string | null): Line => ({
  day: row.day,
  currency: row.currency,
  gameCode: row.gameCode === '' ? null : row.gameCode,
  opening: decimal(row.opening),
  bets: decimal(row.bets),
  wins: decimal(row.wins),
  promotionalWins: decimal(row.promotional),
  reversals: decimal(row.reversals),
  grossRevenue: decimal(row.grossRevenue),
  deposits: decimal(row.deposits),
  withdrawals: decimal(row.withdrawals),
  closing: decimal(row.closing),
  entries: row.entries,
  complete: open !== null && row.day < open,
});

/** A page of the account summary. Reads only entries of days that are not complete. */
export const pageSummary = async (
  { database }: Context,
  filter: SummaryFilter,
  page: Pick<Page, 'limit' | 'offset'>,
): Promise<Slice<Line>> => {
  const open = await firstOpenDay(database.sql);
  const rows = await listSums(database.sql, open, filter, page);
  return slice(
    rows.map((row) => lineOf(row, open)),
    page.limit,
  );
};

/** The account summary as a CSV file. Throws 422 `too_many_lines`. */
export const summaryFile = async (
  ctx: Context,
  filter: SummaryFilter,
  mostLines = 20_000,
): Promise<string> => {
  const { items, hasMore } = await pageSummary(ctx, filter, { limit: mostLines, offset: 0n });
  if (hasMore)
    throw new Problem({
      status: 422,
      code: 'too_many_lines',
      detail: `The file would have more than ${mostLines} lines; ask for fewer days.`,
    });
  const columns = Object.keys(SummaryLine.shape) as (keyof Line)[];
  return [columns, ...items.map((line) => columns.map((column) => line[column]))].map(csvLine).join('');
};
