import type { Executor } from '@platform/service-kit/db';
import { and, eq, inArray } from 'drizzle-orm';
import { inbox } from '../db/tables.ts';
import type { HookEvent } from '../webhooks.ts';
import { hasState, isReceivedAfter, isReceivedBefore, isReceivedFrom } from './find-events.ts';

interface Visit {
  storeId: string;
  /** ISO 8601: received from then on. */
  from: string;
  /** Received before. */
  to: string;
  /** Id of the last event of an earlier visit, which goes on after it. */
  after?: string | undefined;
  state: string;
  /** Only events of these names. */
  events?: readonly HookEvent[];
  /** Events in a slice; a smaller slice is the last. */
  size: number;
  /** No further slice begins after this long; 3 seconds unless set. */
  budgetMs?: number;
  /** Called with the ids of each slice, in the order of receipt. */
  each(ids: string[]): Promise<void>;
}

/**
 * Visits the events of a span of time that have a state, in slices, so that no slice holds locks for long and a crash
 * loses nothing. Returns the id to go on after, or null at the end of the span.
 */
export const visitEvents = async (
  db: Executor,
  { storeId, from, to, after, state, events, size, budgetMs = 3000, each }: Visit,
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
      .limit(size);
    const ids = rows.map(({ id }) => id);
    await each(ids);
    last = ids.at(-1);
    if (last === undefined || ids.length < size) return null;
    if (performance.now() >= end) return last;
  }
};
