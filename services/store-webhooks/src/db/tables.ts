import { sql } from 'drizzle-orm';
import { bigint, index, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { isoColumn } from '@platform/service-kit/columns';
import { tokenPurposes, type StoreSettings, type StoreSnapshot } from '../stores/settings.ts';
import { byId, ofStore } from './columns.ts';

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
    /** Kinds, addresses, mapping and switches; all of them may be shown. */
    settings: jsonb().$type<StoreSettings>().notNull(),
    /** Credentials of all providers, sealed with SECRETS_KEY. */
    credentials: text().notNull(),
    /** Its data is erased some time later, unless the store is restored. */
    deletedAt: isoColumn('deleted_at'),
    createdAt: isoColumn('created_at').notNull(),
    updatedAt: isoColumn('updated_at').notNull(),
  },
  // For what has changed since a moment ago.
  (table) => [index('stores_updated').on(table.updatedAt)],
);

export type StoreRow = typeof stores.$inferSelect;

/** A token is looked up before its store is known, so the hash alone is the key. */
export const webhookTokens = pgTable(
  'webhook_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    ...ofStore,
    /** `events`: the store's token, for all webhooks. `payments`: only for payment-auth-completed. */
    purpose: text({ enum: tokenPurposes }).notNull(),
    createdAt: isoColumn('created_at').notNull(),
    /** Null: the current token. Set: a replaced token, which works until then. */
    graceUntil: isoColumn('grace_until'),
    uses: bigint({ mode: 'number' }).notNull().default(0),
    lastUsedAt: isoColumn('last_used_at'),
  },
  (table) => [index('webhook_tokens_store').on(table.storeId)],
);

/** Every change of a store. Its states also say what was shown of events before the change (see `settingsAt`). */
export const storeChanges = pgTable(
  'store_changes',
  {
    ...ofStore,
    id: uuid().notNull(),
    changedBy: text('changed_by').notNull(),
    changedAt: isoColumn('changed_at').notNull(),
    before: jsonb().$type<StoreSnapshot>().notNull(),
    after: jsonb().$type<StoreSnapshot>().notNull(),
  },
  (table) => [byId(table), index('store_changes_time').on(table.storeId, table.changedAt, table.id)],
);

/**
 * `body`: the whole body was shown. `search`: a search for a text found it in the body. `replay`: it was processed again, or
 * tried out in a dry run, although other fields are mapped now than at receipt, so its result may tell masked values. `cavv`:
 * the CAVV of a payment was shown.
 */
export const revealKinds = ['body', 'search', 'replay', 'cavv'] as const;

/** Records of who learned what event views mask, or a CAVV. */
export const eventReveals = pgTable(
  'event_reveals',
  {
    ...ofStore,
    id: uuid().notNull(),
    /** Null of a payment. */
    eventId: uuid('event_id'),
    /** Of a payment; null of an event. */
    service: text(),
    transactionId: text('transaction_id'),
    kind: text({ enum: revealKinds }).notNull(),
    revealedBy: text('revealed_by').notNull(),
    requestId: text('request_id').notNull(),
    revealedAt: isoColumn('revealed_at').notNull(),
  },
  (table) => [byId(table)],
);

/** `failed` is final only where the payment names its challenge: without it the customer may try again. */
export const paymentStatuses = ['pending', 'succeeded', 'failed'] as const;

/** The order that a 3DS transaction pays, and the result of its authentication. */
export const payments = pgTable(
  'payments',
  {
    ...ofStore,
    service: text().notNull(),
    transactionId: text('transaction_id').notNull(),
    /** UUIDv7: the order of the list. */
    id: uuid()
      .notNull()
      .default(sql`uuidv7()`),
    orderId: text('order_id').notNull(),
    /** The only challenge that counts for the payment. Null: the first that completes it counts. */
    threeDSServerTransId: text('three_ds_server_trans_id'),
    status: text({ enum: paymentStatuses }).notNull().default('pending'),
    eci: text(),
    settledAt: isoColumn('settled_at'),
    /** The challenge that the result is from; its outcome has the CAVV, as long as that is kept. */
    settledBy: text('settled_by'),
    createdAt: isoColumn('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.service, table.transactionId] }),
    // To find out whether a transaction belongs to another store.
    index('payments_transaction_anywhere').on(table.service, sql`lower(transaction_id)`),
    index('payments_latest').on(table.storeId, table.id),
    index('payments_order').on(table.storeId, table.orderId),
  ],
);

/** Challenges that were registered with their payment or have a final result; each belongs to one payment permanently. */
export const paymentChallenges = pgTable(
  'payment_challenges',
  {
    ...ofStore,
    service: text().notNull(),
    /** The 3DS server's own id, in lower case. */
    threeDSServerTransId: text('three_ds_server_trans_id').notNull(),
    transactionId: text('transaction_id').notNull(),
    /** Encrypted; kept for a day: success or failure, CAVV and ECI. */
    outcome: text(),
    outcomeAt: isoColumn('outcome_at').notNull(),
  },
  (table) => [
    // Without the store, so that no challenge counts twice, in whichever stores (docs/adr/0084).
    primaryKey({ columns: [table.service, table.threeDSServerTransId] }),
    index('payment_challenges_outcome')
      .on(table.outcomeAt)
      .where(sql`outcome is not null`),
    // To erase a store.
    index('payment_challenges_store').on(table.storeId),
  ],
);
