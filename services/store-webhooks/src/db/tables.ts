import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { isoColumn } from '@platform/service-kit/columns';
import type { JobRecord, OrderRecord } from '../providers/records.ts';
import { bytea, profile, version } from './columns.ts';

export const importStates = ['pending', 'done', 'failed'] as const;
export const mailStates = ['off', 'pending', 'sent', 'no_address', 'failed'] as const;
export const notificationKinds = ['order', 'member', 'delivery', 'verification'] as const;

export const stores = pgTable('stores', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  storeUrl: text('store_url').notNull(),
  /** What the interface shows: kinds, addresses, mapping, switches. */
  settings: jsonb().notNull(),
  /** Credentials of all providers, sealed with SECRETS_KEY. */
  credentials: text().notNull(),
  createdAt: isoColumn('created_at').notNull(),
  updatedAt: isoColumn('updated_at').notNull(),
});

/** Who a token belongs to is looked up before the store is known, so the hash alone is the key. */
export const webhookTokens = pgTable(
  'webhook_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    storeId: uuid('store_id').notNull(),
    /** `events`: the store's token, for all webhooks. `payments`: only for payment-auth-completed. */
    purpose: text().notNull(),
    createdAt: isoColumn('created_at').notNull(),
    /** Null: the token in force. Set: rotated out, works until then. */
    graceUntil: isoColumn('grace_until'),
    uses: bigint({ mode: 'number' }).notNull().default(0),
    lastUsedAt: isoColumn('last_used_at'),
  },
  (table) => [index('webhook_tokens_store').on(table.storeId)],
);

/**
 * Every webhook as it came, and the queue of what is still to be done with it.
 * `due_at` is when it may be claimed: now, after a backoff, or when the lease of its claimer ends.
 */
export const inbox = pgTable(
  'inbox',
  {
    storeId: uuid('store_id').notNull(),
    /** UUIDv7: the order of receipt, and its time. */
    id: uuid().notNull(),
    event: text().notNull(),
    /** Provider in the path. */
    service: text(),
    /** Events of one entity are processed one after the other. Null: of nothing we can name. */
    entity: text(),
    /** 8 bytes of what it is about, 16 bytes of what it says (see inbox/dedup.ts). */
    dedup: bytea().notNull(),
    body: bytea().notNull(),
    headers: jsonb().notNull(),
    receivedAt: isoColumn('received_at').notNull(),
    state: text().notNull().default('pending'),
    attempts: integer().notNull().default(0),
    dueAt: isoColumn('due_at').notNull(),
    error: text(),
    finishedAt: isoColumn('finished_at'),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.id] }),
    unique('inbox_dedup').on(table.storeId, table.dedup),
    index('inbox_due')
      .on(table.dueAt)
      .where(sql`state = 'pending'`),
    index('inbox_entity')
      .on(table.storeId, table.entity, table.id)
      .where(sql`finished_at is null`),
    // For lists by state and by entity. Expressions, so that the planner never takes them for the queue's.
    index('inbox_state')
      .on(table.storeId, sql`(state || '')`, table.id)
      .where(sql`state || '' <> 'done'`),
    index('inbox_entity_id')
      .on(table.storeId, sql`substr(entity, strpos(entity, ':') + 1)`, table.id)
      .where(sql`entity is not null`),
  ],
);

export const orders = pgTable(
  'orders',
  {
    storeId: uuid('store_id').notNull(),
    /** The POS's. */
    id: text().notNull(),
    status: text().notNull(),
    consumerId: text('consumer_id'),
    version: version(),
    /** Everything else, the items included, so that an order is always replaced as one. */
    details: jsonb().$type<OrderRecord['details']>().notNull(),
    eventId: uuid('event_id').notNull(),
    updatedAt: isoColumn('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.id] }),
    index('orders_latest').on(table.storeId, table.eventId),
  ],
);

export const members = pgTable(
  'members',
  {
    storeId: uuid('store_id').notNull(),
    /** The POS's. */
    id: text().notNull(),
    ...profile(),
    status: text(),
    type: text(),
    version: version(),
    eventId: uuid('event_id').notNull(),
    updatedAt: isoColumn('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.id] }),
    index('members_latest').on(table.storeId, table.eventId),
  ],
);

/** Customers of the shop; the one with a member's id as consumerUserId is that member. */
export const users = pgTable(
  'users',
  {
    storeId: uuid('store_id').notNull(),
    id: uuid().notNull(),
    consumerUserId: text('consumer_user_id').notNull(),
    ...profile(),
    version: version(),
    refreshedAt: isoColumn('refreshed_at'),
    createdAt: isoColumn('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.id] }),
    unique('users_consumer').on(table.storeId, table.consumerUserId),
  ],
);

export const importJobs = pgTable(
  'import_jobs',
  {
    storeId: uuid('store_id').notNull(),
    /** One job a member, however often it comes. */
    memberId: text('member_id').notNull(),
    id: uuid().notNull(),
    state: text({ enum: importStates }).notNull().default('pending'),
    attempts: integer().notNull().default(0),
    dueAt: isoColumn('due_at').notNull(),
    error: text(),
    userId: uuid('user_id'),
    createdAt: isoColumn('created_at').notNull(),
    finishedAt: isoColumn('finished_at'),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.memberId] }),
    index('import_jobs_latest').on(table.storeId, table.id),
    index('import_jobs_due')
      .on(table.dueAt)
      .where(sql`state = 'pending'`),
  ],
);

export const deliveryJobs = pgTable(
  'delivery_jobs',
  {
    storeId: uuid('store_id').notNull(),
    /** The POS's. */
    id: text().notNull(),
    orderId: text('order_id'),
    /** Position in the life cycle, from 1: see `jobStages`. */
    position: integer().notNull(),
    status: text(),
    driverId: text('driver_id'),
    driver: jsonb().$type<JobRecord['driver']>(),
    estimatedArrival: isoColumn('estimated_arrival'),
    assignedAt: isoColumn('assigned_at'),
    startedAt: isoColumn('started_at'),
    arrivedAt: isoColumn('arrived_at'),
    completedAt: isoColumn('completed_at'),
    /** Cancelled or failed. */
    endedAt: isoColumn('ended_at'),
    eventId: uuid('event_id').notNull(),
    updatedAt: isoColumn('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.id] }),
    index('delivery_jobs_latest').on(table.storeId, table.eventId),
  ],
);

export const verifications = pgTable(
  'verifications',
  {
    storeId: uuid('store_id').notNull(),
    service: text().notNull(),
    transactionId: text('transaction_id').notNull(),
    status: text().notNull(),
    userId: text('user_id'),
    completed: boolean().notNull(),
    version: version(),
    eventId: uuid('event_id').notNull(),
    updatedAt: isoColumn('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.service, table.transactionId] }),
    index('verifications_latest').on(table.storeId, table.eventId),
  ],
);

export const notifications = pgTable(
  'notifications',
  {
    storeId: uuid('store_id').notNull(),
    id: uuid().notNull(),
    /** What happened, so that it is told once. */
    key: text().notNull(),
    kind: text({ enum: notificationKinds }).notNull(),
    audience: text({ enum: ['customer', 'store'] }).notNull(),
    subject: text().notNull(),
    reference: text(),
    /** Whose address to look up when it is sent. */
    consumerId: text('consumer_id'),
    eventId: uuid('event_id'),
    mail: text({ enum: mailStates }).notNull(),
    attempts: integer().notNull().default(0),
    dueAt: isoColumn('due_at').notNull(),
    error: text(),
    createdAt: isoColumn('created_at').notNull(),
    sentAt: isoColumn('sent_at'),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.id] }),
    unique('notifications_key').on(table.storeId, table.key),
    index('notifications_due')
      .on(table.dueAt)
      .where(sql`mail = 'pending'`),
  ],
);

/** Which order a 3DS transaction pays. */
export const payments = pgTable(
  'payments',
  {
    storeId: uuid('store_id').notNull(),
    service: text().notNull(),
    transactionId: text('transaction_id').notNull(),
    orderId: text('order_id').notNull(),
    createdAt: isoColumn('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.service, table.transactionId] }),
    // Whether a transaction is another store's is asked across stores.
    index('payments_transaction_anywhere').on(table.service, table.transactionId),
  ],
);

/** The challenges of a payment that came to a final result; each belongs to one payment for good. */
export const paymentChallenges = pgTable(
  'payment_challenges',
  {
    storeId: uuid('store_id').notNull(),
    service: text().notNull(),
    /** The 3DS server's own id. */
    threeDSServerTransId: text('three_ds_server_trans_id').notNull(),
    transactionId: text('transaction_id').notNull(),
    /** Sealed, for a day: where the browser was sent, CAVV and ECI. */
    outcome: text(),
    outcomeAt: isoColumn('outcome_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.service, table.threeDSServerTransId] }),
    index('payment_challenges_anywhere').on(table.service, table.threeDSServerTransId),
    index('payment_challenges_outcome')
      .on(table.outcomeAt)
      .where(sql`outcome is not null`),
  ],
);

/** Who was shown the body of which event without masking. */
export const eventReveals = pgTable(
  'event_reveals',
  {
    storeId: uuid('store_id').notNull(),
    id: uuid().notNull(),
    eventId: uuid('event_id').notNull(),
    revealedBy: text('revealed_by').notNull(),
    requestId: text('request_id').notNull(),
    revealedAt: isoColumn('revealed_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.storeId, table.id] })],
);
