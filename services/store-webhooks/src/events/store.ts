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

export const fullColumns = (sql: Sql) => sql`${columns(sql)}, body, headers`;

interface Span {
  from?: string | undefined;
  to?: string | undefined;
  /** Id of the last event that is left out. */
  after?: string | undefined;
}

/** Ids hold the time of receipt, so a span of time is a range of the primary key. */
export const spanOf = (sql: Sql, { from, to, after }: Span): Fragment => sql`
  ${from === undefined ? sql`` : sql`and id >= ${firstIdOf(new Date(from))}`}
  ${to === undefined ? sql`` : sql`and id < ${firstIdOf(new Date(to))}`}
  ${after === undefined ? sql`` : sql`and id > ${after}`}`;

/** The condition as the index `inbox_state` has it. Most events are done, so the primary key finds those. */
export const hasState = (sql: Sql, state: string): Fragment =>
  state === 'done' ? sql`state = 'done'` : sql`state || '' = ${state}`;

/** The id in an entity such as `order:17`, as the index `inbox_entity_id` has it. */
const entityId = (sql: Sql): Fragment => sql`substr(entity, strpos(entity, ':') + 1)`;

/** Newest first; one row more than the page. */
export const listEvents = (
  sql: Sql,
  storeId: string,
  { status, event, entity, from, to }: Omit<EventFilter, 'page' | 'limit'>,
  { offset, limit }: Page,
) => sql<EventRow[]>`
  select ${columns(sql)} from inbox
  where store_id = ${storeId} ${spanOf(sql, { from, to })}
    ${status === undefined ? sql`` : sql`and ${hasState(sql, status)}`}
    ${event === undefined ? sql`` : sql`and event = ${event}`}
    ${entity === undefined ? sql`` : sql`and ${entityId(sql)} = ${entity} and entity is not null`}
  order by id desc offset ${String(offset)} limit ${limit + 1}`;

export const findEvent = async (sql: Sql, storeId: string, id: string): Promise<FullEventRow | undefined> => {
  const [row] = await sql<FullEventRow[]>`
    select ${fullColumns(sql)} from inbox where store_id = ${storeId} and id = ${id}`;
  return row;
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
