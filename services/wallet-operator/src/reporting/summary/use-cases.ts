import { readPageList, type Window } from '@platform/pagination/list';
import { Problem } from '@platform/service-kit/problem';
import type { z } from 'zod';
import { csvLine } from '@platform/service-kit/csv';
import type { Context } from '../../context.ts';
import { SummaryLine, type SummaryQuery } from './schema.ts';
import { firstOpenDay, listSums, type SummaryFilter, type SummaryRow } from './queries.ts';

const listLines = async ({ sql }: Context['database'], filter: SummaryFilter, page: Window) =>
  listSums(sql, await firstOpenDay(sql), filter, page);

/** A page of the account summary. */
export const pageSummary = ({ database }: Context, query: z.output<typeof SummaryQuery>) =>
  readPageList('summary', query, (page) => listLines(database, query, page));

const columns = Object.keys(SummaryLine.shape) as (keyof SummaryRow)[];
export const headerLine = csvLine(columns);

/** The account summary as a CSV file. Throws 422 `too_many_lines`. */
export const summaryFile = async (
  { database }: Context,
  filter: SummaryFilter,
  maxLines = 20_000,
): Promise<string> => {
  const lines = await listLines(database, filter, { limit: maxLines, offset: 0n });
  if (lines.length > maxLines)
    throw new Problem({
      status: 422,
      code: 'too_many_lines',
      detail: `The file would have more than ${maxLines} lines; ask for fewer days.`,
    });
  return headerLine + lines.map((line) => csvLine(columns.map((column) => line[column]))).join('');
};
