import type { Sql } from 'postgres';
import type { Fragment } from '../db/sql.ts';
import type { Page } from '@platform/pagination/page-limit';
import { firstIdOf } from '../inbox/prune.ts';
import type { InboxEvent } from '../worker/event.ts';
import type { EventFilter } from './schema.ts';

export interface EventRow extends Omit<InboxEvent, 'body' | 'headers'> {
  state: string;
  error: string | null;
  dueAt: string;
  finishedAt: string | null;
}

export interface FullEventRow extends EventRow, Pick<InboxEvent, 'body' | 'headers'> {}

const columns = (sql: Sql) => sql`
  store_id as "storeId", id, event, service, entity, state, attempts, error, received_at as "receivedAt",
  due_at as "dueAt", finished_at as "finishedAt"`;

/** Ids tell the time of receipt, so a span of time is a span of the primary key. */
const spanOf = (sql: Sql, from: string | undefined, to: string | undefined): Fragment => sql`
  ${from === undefined ? sql`` : sql`and id >= ${firstIdOf(new Date(from))}`}
  ${to === undefined ? sql`` : sql`and id < ${firstIdOf(new Date(to))}`}`;

export const listEvents = (
  sql: Sql,
  storeId: string,
  { status, event, from, to }: Omit<EventFilter, 'page' | 'limit'>,
  { offset, limit }: Page,
) => sql<EventRow[]>`
  select ${columns(sql)} from inbox
  where store_id = ${storeId} ${spanOf(sql, from, to)}
    ${status === undefined ? sql`` : sql`and state = ${status}`}
    ${event === undefined ? sql`` : sql`and event = ${event}`}
  order by id desc offset ${String(offset)} limit ${limit + 1}`;

export const findEvent = async (sql: Sql, storeId: string, id: string): Promise<FullEventRow | undefined> => {
  const [row] = await sql<FullEventRow[]>`
    select ${columns(sql)}, body, headers from inbox where store_id = ${storeId} and id = ${id}`;
  return row;
};

/** Makes one event due again, with all its tries; what a signature refused stays refused. */
export const requeue = async (sql: Sql, storeId: string, id: string): Promise<boolean> => {
  const { count } = await sql`
    update inbox set state = 'pending', attempts = 0, due_at = now(), error = null, finished_at = null
    where store_id = ${storeId} and id = ${id} and state <> 'refused'`;
  return count > 0;
};

export const requeueSpan = async (
  sql: Sql,
  storeId: string,
  { from, to, status }: { from: string; to: string; status: string },
): Promise<number> => {
  const { count } = await sql`
    update inbox set state = 'pending', attempts = 0, due_at = now(), error = null, finished_at = null
    where store_id = ${storeId} ${spanOf(sql, from, to)} and state = ${status}`;
  return count;
};

export interface Reveal {
  storeId: string;
  eventId: string;
  revealedBy: string;
  requestId: string;
}

export const insertReveal = async (sql: Sql, id: string, reveal: Reveal, now: Date): Promise<void> => {
  await sql`
    insert into event_reveals (store_id, id, event_id, revealed_by, request_id, revealed_at)
    values (${reveal.storeId}, ${id}, ${reveal.eventId}, ${reveal.revealedBy}, ${reveal.requestId},
      ${now.toISOString()})`;
};
