import { sql } from 'drizzle-orm';
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  pgView,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { isoColumn } from '@platform/service-kit/columns';
import type { HookEvent } from '../webhooks.ts';
import { bytea, idKey, storeIdColumn } from './columns.ts';

/** Final states of an event. */
export const resultStates = ['done', 'failed', 'refused', 'ignored', 'dismissed'] as const;
export type ResultState = (typeof resultStates)[number];
export const eventStates = ['pending', ...resultStates] as const;

const receivedColumns = {
  ...storeIdColumn,
  /** UUIDv7: contains the time of receipt and sorts events in that order. */
  id: uuid().notNull(),
  event: text().$type<HookEvent>().notNull(),
  /** Provider in the path. */
  service: text(),
  /** Events of one entity are processed one after the other. Null: the body names no entity. */
  entity: text(),
  /** 8 bytes: hash of the subject (event name, provider and entity); 16 bytes: hash of the content. See inbox/event.ts. */
  dedup: bytea().notNull(),
  body: bytea().notNull(),
  headers: jsonb().$type<Record<string, string>>().notNull(),
  receivedAt: isoColumn('received_at').notNull(),
};

/**
 * Every webhook as it was received. Rows are only inserted and deleted, so a body is written once. The exception: erasing a
 * person empties the body and stores its hash.
 */
export const events = pgTable('events', { ...receivedColumns, bodyHash: bytea('body_hash') }, (table) => [
  idKey(table),
  unique('events_dedup').on(table.storeId, table.dedup),
  // Finds the previous event with the same subject (the first 8 bytes of `dedup`) when an event is repeated.
  // Costs 9 µs of PostgreSQL CPU time and 300 bytes of WAL per event (41 instead of 32 µs, 3,480 instead of 3,180 bytes).
  index('events_subject').on(table.storeId, sql`substr(dedup, 1, 8)`, table.id),
  // Lists the events of one entity.
  index('events_entity')
    .on(table.storeId, sql`substr(entity, strpos(entity, ':') + 1)`, table.id)
    .where(sql`entity is not null`),
  // One Bloom filter per 128 pages instead of one entry per event: inserting an event does not write to the index while
  // the table grows. Inserting into a page that pruning has emptied adds to its filter, which still contains the deleted
  // events until the index is rebuilt. The function events_of_request uses this index.
  index('events_request')
    .using('brin', sql`(headers ->> 'x-request-id') text_bloom_ops`)
    .with({ autosummarize: true }),
]);

/** The events that are still to be processed. Each event has a row either here or in `results`. */
export const queue = pgTable(
  'queue',
  {
    ...storeIdColumn,
    /** The entity of the event, or its id if it has none. */
    entity: text().notNull(),
    id: uuid().notNull(),
    /** When it was received or replayed. */
    queuedAt: isoColumn('queued_at').notNull(),
    /** When the event may be claimed: now, after a backoff, or once its worker has kept it for too long. */
    dueAt: isoColumn('due_at').notNull(),
    /** The worker that is processing the event. */
    worker: uuid(),
    /** How many times a worker started to process it. */
    attempts: integer().notNull(),
    /** How many workers crashed while processing it since the last attempt that ended normally. */
    crashes: integer().notNull().default(0),
    error: text(),
    /** True, set by a replay or recheck: processed with the current mapping. False: with the mapping at its receipt. */
    isRemapped: boolean('is_remapped').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.entity, table.id] }),
    index('queue_due')
      .on(table.dueAt)
      .where(sql`crashes <= 2`),
    // Events that may have crashed their workers are claimed one at a time.
    index('queue_suspects')
      .on(table.dueAt)
      .where(sql`crashes > 2`),
  ],
);

/** Why a failed event needs no more attention, and who dismissed it. */
const dismissal = {
  note: text(),
  dismissedBy: text('dismissed_by'),
  dismissedAt: isoColumn('dismissed_at'),
};

/** The final states of events. */
export const results = pgTable(
  'results',
  {
    ...storeIdColumn,
    id: uuid().notNull(),
    state: text({ enum: resultStates }).notNull(),
    attempts: integer().notNull(),
    error: text(),
    finishedAt: isoColumn('finished_at').notNull(),
    ...dismissal,
  },
  (table) => [
    idKey(table),
    index('results_state')
      .on(table.storeId, table.state, table.id)
      .where(sql`state <> 'done'`),
  ],
);

/** The workers that claim events, one per instance. A worker that does not extend `alive_until` in time counts as dead. */
export const workers = pgTable('workers', {
  id: uuid().primaryKey(),
  aliveUntil: isoColumn('alive_until').notNull(),
});

/** Events with their state, for lists and views. */
export const inbox = pgView('inbox', {
  ...receivedColumns,
  state: text({ enum: eventStates }).notNull(),
  attempts: integer().notNull(),
  dueAt: isoColumn('due_at'),
  error: text(),
  finishedAt: isoColumn('finished_at'),
  ...dismissal,
}).as(sql`
  select e.store_id, e.id, e.event, e.service, e.entity, e.dedup, e.body, e.headers, e.received_at,
    coalesce(r.state, 'pending') as state, coalesce(q.attempts, r.attempts) as attempts, q.due_at,
    coalesce(q.error, r.error) as error, r.finished_at,
    r.note, r.dismissed_by, r.dismissed_at
  from events e
  left join queue q on q.store_id = e.store_id and q.entity = coalesce(e.entity, e.id::text) and q.id = e.id
  left join results r on r.store_id = e.store_id and r.id = e.id`);
