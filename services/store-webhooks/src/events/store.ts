import type { Executor } from '@platform/service-kit/db';
import { and, eq, gt, gte, lt, sql, type SQL } from 'drizzle-orm';
import { eventReveals, inbox } from '../db/tables.ts';
import { firstIdOf } from '../inbox/prune.ts';

export type EventRow = typeof inbox.$inferSelect;

interface Span {
  from?: string | undefined;
  to?: string | undefined;
  /** Id of the last event that is left out. */
  after?: string | undefined;
}

export const isReceivedFrom = (from: string): SQL => gte(inbox.id, firstIdOf(new Date(from)));
export const isReceivedBefore = (to: string): SQL => lt(inbox.id, firstIdOf(new Date(to)));

/** Ids contain the time of receipt, so a span of time is a range of the primary key. */
export const isInSpan = ({ from, to, after }: Span): SQL | undefined =>
  and(
    from === undefined ? undefined : isReceivedFrom(from),
    to === undefined ? undefined : isReceivedBefore(to),
    after === undefined ? undefined : gt(inbox.id, after),
  );

/** The condition as the index `inbox_state` has it. Most events are done, so the primary key finds those. */
export const hasState = (state: string): SQL =>
  state === 'done' ? sql`${inbox.state} = 'done'` : sql`${inbox.state} || '' = ${state}`;

/** Whether the id in an entity such as `order:17` is this one; the expression as the index `inbox_entity_id` has it. */
export const isAbout = (id: string): SQL =>
  sql`substr(${inbox.entity}, strpos(${inbox.entity}, ':') + 1) = ${id} and ${inbox.entity} is not null`;

export const findEvent = async (db: Executor, storeId: string, id: string): Promise<EventRow | undefined> => {
  const [row] = await db
    .select()
    .from(inbox)
    .where(and(eq(inbox.storeId, storeId), eq(inbox.id, id)));
  return row;
};

/** Records that somebody is shown the body of an event without masking. */
export const insertReveal = async (db: Executor, reveal: typeof eventReveals.$inferInsert): Promise<void> => {
  await db.insert(eventReveals).values(reveal);
};
