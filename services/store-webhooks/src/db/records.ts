import { sql } from 'drizzle-orm';
import { boolean, index, integer, jsonb, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { isoColumn } from '@platform/service-kit/columns';
import type { OrderRecord } from '../providers/pos-payloads.ts';
import type { JobRecord } from '../providers/records.ts';
import {
  idKey,
  dueIndex,
  sourceEventColumns,
  latestIndex,
  storeIdColumn,
  profileColumns,
  queueColumns,
  version,
} from './columns.ts';

export const importStates = ['pending', 'done', 'failed'] as const;
export const mailStates = ['off', 'pending', 'sent', 'no_address', 'failed'] as const;
export const notificationKinds = ['order', 'member', 'delivery', 'verification'] as const;

/** The order number that customers know, as the expression of the index orders_number. */
export const orderNo = sql`details ->> 'orderNo'`;

export const orders = pgTable(
  'orders',
  {
    ...storeIdColumn,
    /** The id at the POS. */
    id: text().notNull(),
    status: text().notNull(),
    consumerId: text('consumer_id'),
    version,
    /** All other fields and the items: an order is always replaced as a whole. */
    details: jsonb().$type<OrderRecord['details']>().notNull(),
    ...sourceEventColumns,
  },
  (table) => [
    idKey(table),
    latestIndex('orders', table),
    index('orders_number').on(table.storeId, sql`(${orderNo})`),
    index('orders_consumer').on(table.storeId, table.consumerId, table.eventId),
  ],
);

export const members = pgTable(
  'members',
  {
    ...storeIdColumn,
    /** The id at the POS. */
    id: text().notNull(),
    ...profileColumns,
    status: text(),
    type: text(),
    version,
    ...sourceEventColumns,
  },
  (table) => [idKey(table), latestIndex('members', table)],
);

/** Customers of the shop; consumerUserId is the id of the member at the POS. */
export const users = pgTable(
  'users',
  {
    ...storeIdColumn,
    id: uuid().notNull(),
    consumerUserId: text('consumer_user_id').notNull(),
    ...profileColumns,
    /** BCP 47. */
    language: text(),
    version,
    refreshedAt: isoColumn('refreshed_at'),
    createdAt: isoColumn('created_at').notNull(),
  },
  (table) => [idKey(table), unique('users_consumer').on(table.storeId, table.consumerUserId)],
);

export const importJobs = pgTable(
  'import_jobs',
  {
    ...storeIdColumn,
    /** There is one job for each member. */
    memberId: text('member_id').notNull(),
    id: uuid().notNull(),
    state: text({ enum: importStates }).notNull().default('pending'),
    ...queueColumns,
    userId: uuid('user_id'),
    createdAt: isoColumn('created_at').notNull(),
    finishedAt: isoColumn('finished_at'),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.memberId] }),
    index('import_jobs_latest').on(table.storeId, table.id),
    dueIndex('import_jobs', table, sql`state = 'pending'`),
  ],
);

export const deliveryJobs = pgTable(
  'delivery_jobs',
  {
    ...storeIdColumn,
    /** The id at the POS. */
    id: text().notNull(),
    orderId: text('order_id'),
    /** Position of the stage in `jobStages`, from 1. */
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
    /** Another final stage, reported after the job had ended. */
    laterPosition: integer('later_position'),
    laterStageAt: isoColumn('later_stage_at'),
    ...sourceEventColumns,
  },
  (table) => [
    idKey(table),
    latestIndex('delivery_jobs', table),
    index('delivery_jobs_order').on(table.storeId, table.orderId),
  ],
);

export const verifications = pgTable(
  'verifications',
  {
    ...storeIdColumn,
    service: text().notNull(),
    transactionId: text('transaction_id').notNull(),
    status: text().notNull(),
    userId: text('user_id'),
    completed: boolean().notNull(),
    version,
    ...sourceEventColumns,
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.service, table.transactionId] }),
    latestIndex('verifications', table),
    index('verifications_user').on(table.storeId, table.userId, table.eventId),
  ],
);

export const notifications = pgTable(
  'notifications',
  {
    ...storeIdColumn,
    id: uuid().notNull(),
    /** Identifies the change, so that it causes only one notification. */
    key: text().notNull(),
    kind: text({ enum: notificationKinds }).notNull(),
    audience: text({ enum: ['customer', 'store'] }).notNull(),
    /** See `Notice`. */
    change: text().notNull(),
    /** The text of the notification, in English. */
    subject: text().notNull(),
    reference: text(),
    /** The customer; their mail address is looked up when the mail is sent. */
    consumerId: text('consumer_id'),
    eventId: uuid('event_id'),
    mail: text({ enum: mailStates }).notNull(),
    /** How often a sent mail was sent again; part of its Message-ID. */
    resends: integer().notNull().default(0),
    ...queueColumns,
    createdAt: isoColumn('created_at').notNull(),
    sentAt: isoColumn('sent_at'),
  },
  (table) => [
    idKey(table),
    unique('notifications_key').on(table.storeId, table.key),
    index('notifications_reference').on(table.storeId, table.reference),
    dueIndex('notifications', table, sql`mail = 'pending'`),
    // To find the mails that wait for a customer's address, and those of a person to be erased.
    index('notifications_consumer').on(table.storeId, table.consumerId, table.id),
  ],
);
