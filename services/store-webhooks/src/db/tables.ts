import { sql } from 'drizzle-orm';
import { bigint, index, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { isoColumn } from '@platform/service-kit/columns';
import { tokenPurposes, type StoreSettings, type StoreSnapshot } from '../stores/settings.ts';
import { idKey, storeIdColumn } from './columns.ts';

export { idempotencyKeys } from '@platform/service-kit/idempotency';
/** Webhooks and their queue. */
export * from './inbox.ts';
/** The records that webhooks change. */
export * from './records.ts';

export const stores = pgTable(
  'stores',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    storeUrl: text('store_url').notNull(),
    /** Provider kinds, addresses, mapping and switches; nothing secret. */
    settings: jsonb().$type<StoreSettings>().notNull(),
    /** Credentials of all providers, sealed with SECRETS_KEY. */
    credentials: text().notNull(),
    /** Set: the store is deleted. Its data is erased STORE_ERASE_DAYS later, unless it is restored. */
    deletedAt: isoColumn('deleted_at'),
    createdAt: isoColumn('created_at').notNull(),
    updatedAt: isoColumn('updated_at').notNull(),
  },
  // To find the stores that changed recently.
  (table) => [index('stores_updated').on(table.updatedAt)],
);

export type StoreRow = typeof stores.$inferSelect;

/** A token is looked up before its store is known, so the hash alone is the key. */
export const webhookTokens = pgTable(
  'webhook_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    ...storeIdColumn,
    /** `events`: the store's token, for all webhooks. `payments`: only for payment-auth-completed. */
    purpose: text({ enum: tokenPurposes }).notNull(),
    createdAt: isoColumn('created_at').notNull(),
    /** Null: the current token. Set: a replaced token, which works until this time. */
    graceUntil: isoColumn('grace_until'),
    uses: bigint({ mode: 'number' }).notNull().default(0),
    lastUsedAt: isoColumn('last_used_at'),
  },
  (table) => [index('webhook_tokens_store').on(table.storeId)],
);

/** Every change of a store. Its old settings also decide how earlier events are shown (see `replacedSettings`). */
export const storeChanges = pgTable(
  'store_changes',
  {
    ...storeIdColumn,
    id: uuid().notNull(),
    changedBy: text('changed_by').notNull(),
    changedAt: isoColumn('changed_at').notNull(),
    before: jsonb().$type<StoreSnapshot>().notNull(),
    after: jsonb().$type<StoreSnapshot>().notNull(),
  },
  (table) => [idKey(table), index('store_changes_time').on(table.storeId, table.changedAt, table.id)],
);

/**
 * `body`: the whole body was shown. `search`: a search for a text found the event. `replay`: the event was processed again, or
 * in a dry run, with a mapping other than at its receipt, so its result may reveal masked values. `cavv`: the CAVV of a payment
 * was shown.
 */
export const revealKinds = ['body', 'search', 'replay', 'cavv'] as const;

/** Audit records of callers who saw event data that views mask, or a CAVV. */
export const eventReveals = pgTable(
  'event_reveals',
  {
    ...storeIdColumn,
    id: uuid().notNull(),
    /** Null for a payment. */
    eventId: uuid('event_id'),
    /** Set for a payment, null for an event. */
    service: text(),
    transactionId: text('transaction_id'),
    kind: text({ enum: revealKinds }).notNull(),
    revealedBy: text('revealed_by').notNull(),
    requestId: text('request_id').notNull(),
    revealedAt: isoColumn('revealed_at').notNull(),
  },
  (table) => [idKey(table)],
);

/** `failed` is final only if the payment was registered with its challenge; otherwise the customer may try again. */
export const paymentStatuses = ['pending', 'succeeded', 'failed'] as const;

/** The order that a 3DS transaction pays, and the result of its authentication. */
export const payments = pgTable(
  'payments',
  {
    ...storeIdColumn,
    service: text().notNull(),
    transactionId: text('transaction_id').notNull(),
    /** UUIDv7: sorts the list. */
    id: uuid()
      .notNull()
      .default(sql`uuidv7()`),
    orderId: text('order_id').notNull(),
    /** The only challenge that counts for the payment. Null: the first completed challenge counts. */
    threeDSServerTransId: text('three_ds_server_trans_id'),
    status: text({ enum: paymentStatuses }).notNull().default('pending'),
    eci: text(),
    settledAt: isoColumn('settled_at'),
    /** The challenge that produced the result. Its outcome contains the CAVV while that is kept. */
    settledBy: text('settled_by'),
    createdAt: isoColumn('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.service, table.transactionId] }),
    // To check whether a transaction belongs to another store.
    index('payments_transaction_anywhere').on(table.service, sql`lower(transaction_id)`),
    index('payments_latest').on(table.storeId, table.id),
    index('payments_order').on(table.storeId, table.orderId),
  ],
);

/** Challenges that were registered with their payment or have a final result; each belongs to one payment permanently. */
export const paymentChallenges = pgTable(
  'payment_challenges',
  {
    ...storeIdColumn,
    service: text().notNull(),
    /** The 3DS server's own id, in lower case. */
    threeDSServerTransId: text('three_ds_server_trans_id').notNull(),
    transactionId: text('transaction_id').notNull(),
    /** Encrypted; kept for a day: success or failure, CAVV and ECI. */
    outcome: text(),
    outcomeAt: isoColumn('outcome_at').notNull(),
  },
  (table) => [
    // Does not include the store, so that a challenge counts only once across all stores (docs/adr/0084).
    primaryKey({ columns: [table.service, table.threeDSServerTransId] }),
    index('payment_challenges_outcome')
      .on(table.outcomeAt)
      .where(sql`outcome is not null`),
    // To erase the rows of a store.
    index('payment_challenges_store').on(table.storeId),
  ],
);
