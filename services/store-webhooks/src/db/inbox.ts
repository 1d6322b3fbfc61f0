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
import { bytea, byId, ofStore } from './columns.ts';

/** How an event ended. */
export const resultStates = ['done', 'failed', 'refused', 'ignored', 'dismissed'] as const;
export type ResultState = (typeof resultStates)[number];
export const eventStates = ['pending', ...resultStates] as const;

const received = {
  ...ofStore,
  /** UUIDv7: the order of receipt, and its time. */
  id: uuid().notNull(),
  event: text().$type<HookEvent>().notNull(),
  /** Provider in the path. */
  service: text(),
  /** Events of one entity are processed one after the other. Null: the body names none. */
  entity: text(),
  /** 8 bytes that identify the entity, 16 bytes that identify the content (see inbox/event.ts). */
  dedup: bytea().notNull(),
  body: bytea().notNull(),
  headers: jsonb().$type<Record<string, string>>().notNull(),
  receivedAt: isoColumn('received_at').notNull(),
};

/**
 * Every webhook as it was received. Rows are only inserted and deleted, so the body is written once; only erasing a person
 * empties bodies, and keeps their hashes.
 */
export const events = pgTable('events', { ...received, bodyHash: bytea('body_hash') }, (table) => [
  byId(table),
  unique('events_dedup').on(table.storeId, table.dedup),
  // For the event before a repeated one, with the same subject: the first bytes of its key (see inbox/event.ts). It costs
  // 9 µs of PostgreSQL's processor time and 300 bytes of WAL an event (41 instead of 32 µs, 3,480 instead of 3,180 bytes).
  index('events_subject').on(table.storeId, sql`substr(dedup, 1, 8)`, table.id),
  // For the list of the events of one entity.
  index('events_entity')
    .on(table.storeId, sql`substr(entity, strpos(entity, ':') + 1)`, table.id)
    .where(sql`entity is not null`),
  // A Bloom filter for each 128 pages instead of an entry for each event: inserting an event writes nothing to it while
  // the table grows. In a page that pruning has emptied it adds to the filter, which keeps the deleted events until the
  // index is rebuilt. The function events_of_request reads it.
  index('events_request')
    .using('brin', sql`(headers ->> 'x-request-id') text_bloom_ops`)
    .with({ autosummarize: true }),
]);

/** The events that are still to be processed. A row exists either here or in `results`. */
export const queue = pgTable(
  'queue',
  {
    ...ofStore,
    /** The entity of the event, or its id if it has none. */
    entity: text().notNull(),
    id: uuid().notNull(),
    /** When it was received or replayed. */
    queuedAt: isoColumn('queued_at').notNull(),
    /** When it may be claimed: now, after a backoff, or when its worker has kept it for too long. */
    dueAt: isoColumn('due_at').notNull(),
    /** The worker that processes it. */
    worker: uuid(),
    /** Number of times a worker began to process it. */
    attempts: integer().notNull(),
    /** Number of workers that died while they processed it, since an attempt last ended normally. */
    crashes: integer().notNull().default(0),
    error: text(),
    /** Whether a replay may read it with the mapping of today; else that of its receipt counts. */
    isRemapped: boolean('is_remapped').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.entity, table.id] }),
    index('queue_due')
      .on(table.dueAt)
      .where(sql`crashes <= 2`),
    // Events that may be what kills the workers: they are claimed one at a time.
    index('queue_suspects')
      .on(table.dueAt)
      .where(sql`crashes > 2`),
  ],
);

/** Who said why a failed event needs no more attention. */
const dismissal = {
  note: text(),
  dismissedBy: text('dismissed_by'),
  dismissedAt: isoColumn('dismissed_at'),
};

/** How events ended. */
export const results = pgTable(
  'results',
  {
    ...ofStore,
    id: uuid().notNull(),
    state: text({ enum: resultStates }).notNull(),
    attempts: integer().notNull(),
    error: text(),
    finishedAt: isoColumn('finished_at').notNull(),
    ...dismissal,
  },
  (table) => [
    byId(table),
    index('results_state')
      .on(table.storeId, table.state, table.id)
      .where(sql`state <> 'done'`),
  ],
);

/** The instances that claim events. One that does not extend `alive_until` in time is dead. */
export const workers = pgTable('workers', {
  id: uuid().primaryKey(),
  aliveUntil: isoColumn('alive_until').notNull(),
});

/** Events with their state, for lists and views. */
export const inbox = pgView('inbox', {
  ...received,
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
