import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import type { Executor } from '@platform/service-kit/db';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { pageSummary } from '../summary/use-cases.ts';
import type { AuditEvent, Totals } from './schema.ts';
import { insertEvent, listEvents } from './queries.ts';

/** Records an action of a person, in the transaction that performs it. */
export const recordEvent = (
  orm: Pick<Executor, 'insert'>,
  event: Parameters<typeof insertEvent>[1],
): Promise<void> => insertEvent(orm, event);

export const pageEvents = async (
  { database }: Context,
  playerId: string | undefined,
  page: Page,
): Promise<Slice<z.input<typeof AuditEvent>>> => {
  const rows = await listEvents(database.orm, playerId, page);
  return slice(
    rows.map((row) => ({ ...row, at: row.at.toISOString() })),
    page.limit,
  );
};

/** More than there are currencies in 31 days. */
const allTotals = { limit: 10_000, offset: 0n };

/** Sums for each day (UTC, `from` to `to`) and currency. Days without entries are left out. */
export const totalsOf = async (ctx: Context, from: string, to: string): Promise<z.input<typeof Totals>> => {
  const { items } = await pageSummary(ctx, { from, to, by: 'currency' }, allTotals);
  const moved = items.filter(({ entries }) => entries > 0);
  return { totals: moved.map(({ bets, ...sums }) => ({ ...sums, stakes: bets })) };
};
