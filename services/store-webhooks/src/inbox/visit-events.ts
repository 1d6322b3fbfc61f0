import type { Executor } from '@platform/service-kit/db';
import { and, eq, inArray } from 'drizzle-orm';
import { inbox } from '../db/tables.ts';
import type { HookEvent } from '../webhooks.ts';
import { hasState, isReceivedAfter, isReceivedBefore, isReceivedFrom } from './find-events.ts';

interface Visit {
  storeId: string;
  /** ISO 8601: only events received at this time or later. */
  from: string;
  /** Only events received before this time. */
  to: string;
  /** Continues after this event id, the result of an earlier call. */
  after?: string | undefined;
  state: string;
  /** Only events with these names. */
  events?: readonly HookEvent[];
  /** Events per batch. */
  batchSize: number;
  /** No further batch starts after this time; 3 seconds by default. */
  budgetMs?: number;
  /** Whether a further batch may start; always by default. */
  mayContinue?: () => boolean;
  /** Called with the ids of each batch, in the order of receipt. */
  visitBatch(ids: string[]): Promise<void>;
}

/**
 * Visits the events of a time range that have a state, in batches, so that no batch holds locks for long and a crash loses
 * nothing. Returns the id to continue after, or null at the end of the range.
 */
export const visitEvents = async (
  db: Executor,
  { storeId, from, to, after, state, events, batchSize, budgetMs = 3000, mayContinue, visitBatch }: Visit,
): Promise<string | null> => {
  const end = performance.now() + budgetMs;
  const conditions = [
    eq(inbox.storeId, storeId),
    hasState(state, storeId),
    isReceivedFrom(from),
    isReceivedBefore(to),
    events && inArray(inbox.event, events),
  ];
  for (let last = after; ;) {
    const rows = await db
      .select({ id: inbox.id })
      .from(inbox)
      .where(and(...conditions, last === undefined ? undefined : isReceivedAfter(last)))
      .orderBy(inbox.id)
      .limit(batchSize);
    const ids = rows.map(({ id }) => id);
    await visitBatch(ids);
    last = ids.at(-1);
    if (last === undefined || ids.length < batchSize) return null;
    if (performance.now() >= end || mayContinue?.() === false) return last;
  }
};
