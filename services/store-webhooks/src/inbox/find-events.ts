import type { Executor } from '@platform/service-kit/db';
import { orNotFound } from '@platform/service-kit/record-versions';
import { and, eq, gt, gte, lt, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { events, inbox, queue, results } from '../db/tables.ts';
import { firstIdOf } from './event.ts';

export type EventRow = typeof inbox.$inferSelect;

// Ids contain the time of receipt, so a time range is a range of the primary key.
export const isReceivedFrom = (from: string): SQL => gte(inbox.id, firstIdOf(new Date(from)));
export const isReceivedBefore = (to: string): SQL => lt(inbox.id, firstIdOf(new Date(to)));
export const isReceivedAfter = (id: string): SQL => gt(inbox.id, id);

/**
 * SQL condition for a state. The primary key finds done events, which are the most; the index results_state finds other
 * finished ones. Pending events are an array of the ids that `store` has in the queue, so that the primary key returns a page
 * in order, however many there are.
 */
export const hasState = (state: string, store: string | PgColumn): SQL => {
  if (state === 'done') return eq(inbox.state, 'done');
  if (state === 'pending')
    return sql`${inbox.id} = any(array(select ${queue.id} from ${queue} where ${queue.storeId} = ${store}))
      and ${inbox.dueAt} is not null`;
  const ids = sql`select ${results.id} from ${results}
    where ${results.storeId} = ${inbox.storeId} and ${results.state} = ${state} and ${results.state} <> 'done'`;
  return sql`${inbox.id} in (${ids})`;
};

/**
 * SQL condition for events that are not done and have this text as a value in their body. Bodies have no index, but few events
 * are not done.
 */
export const isUnfinishedWithValue = (value: string, store: string | PgColumn): SQL =>
  sql`${inbox.id} = any(array(
      select ${results.id} from ${results} where ${results.storeId} = ${store} and ${results.state} <> 'done'
      union all select ${queue.id} from ${queue} where ${queue.storeId} = ${store}))
    and position(convert_to(${JSON.stringify(value)}, 'UTF8') in ${inbox.body}) > 0`;

/**
 * SQL condition for events about an entity: `text` is its id, such as `17`, or the whole entity as events show it, such as
 * `order:17`. Uses the expression of the index `events_entity`.
 */
export const isAbout = (text: string): SQL => {
  const idOfEvent = sql`substr(${inbox.entity}, strpos(${inbox.entity}, ':') + 1)`;
  if (!text.includes(':')) return sql`${idOfEvent} = ${text} and ${inbox.entity} is not null`;
  const id = text.slice(text.indexOf(':') + 1);
  return sql`${idOfEvent} in (${text}, ${id}) and ${inbox.entity} is not null
    and (${idOfEvent} = ${text} or ${inbox.entity} = ${text})`;
};

/** SQL condition for the `X-Request-Id` of the request. The array is computed once, not once per store. */
export const hasRequestId = (requestId: string): SQL =>
  sql`${inbox.id} = any(array(select events_of_request(${requestId})))`;

/** The SHA-256, in hex, of a body that was erased; null if it was not erased. */
export const erasedHashOf = async (db: Executor, { storeId, id, body }: EventRow): Promise<string | null> => {
  if (body.length > 0) return null;
  const [row] = await db
    .select({ bodyHash: events.bodyHash })
    .from(events)
    .where(and(eq(events.storeId, storeId), eq(events.id, id)));
  return row?.bodyHash?.toString('hex') ?? null;
};

/** An event with its state. Throws NotFound. */
export const findEvent = async (db: Executor, storeId: string, id: string): Promise<EventRow> => {
  const [row] = await db
    .select()
    .from(inbox)
    .where(and(eq(inbox.storeId, storeId), eq(inbox.id, id)));
  return orNotFound(row, 'event');
};
