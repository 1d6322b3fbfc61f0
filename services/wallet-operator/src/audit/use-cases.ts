import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import type { Executor } from '@platform/service-kit/db';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { decimal } from '../money.ts';
import type { AuditEvent, Totals } from './schema.ts';
import { insertEvent, listEvents } from './store.ts';
import { readTotals } from './totals-store.ts';

/** Records an action of a person, in the transaction that performs it. */
export const recordEvent = (
  orm: Pick<Executor, 'insert'>,
  event: { kind: string; playerId: string | null; details: Record<string, unknown> },
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

/** Sums for each day (UTC, `from` to `to`) and currency. */
export const totalsOf = async (
  { database }: Context,
  from: string,
  to: string,
): Promise<z.input<typeof Totals>> => ({
  totals: (await readTotals(database.sql, from, to)).map(({ day, currency, entries, ...sums }) => ({
    day,
    currency,
    stakes: decimal(sums.stakes),
    wins: decimal(sums.wins),
    reversals: decimal(sums.reversals),
    grossRevenue: decimal(sums.grossRevenue),
    deposits: decimal(sums.deposits),
    withdrawals: decimal(sums.withdrawals),
    entries,
  })),
});
