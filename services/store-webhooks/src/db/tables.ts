import { sql } from 'drizzle-orm';
import { bigint, index, jsonb, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { isoColumn } from '@platform/service-kit/columns';
import type { HookEvent } from '../hooks/events.ts';
import { tokenPurposes, type StoreSettings } from '../stores/settings.ts';
import { bytea, byId, due, ofStore, queued } from './columns.ts';

/** The records that webhooks change are declared in their own file. */
export * from './records.ts';

export const eventStates = ['pending', 'done', 'failed', 'refused', 'ignored'] as const;

export const stores = pgTable('stores', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  storeUrl: text('store_url').notNull(),
  /** Kinds, addresses, mapping and switches; all of them may be shown. */
  settings: jsonb().$type<StoreSettings>().notNull(),
  /** Credentials of all providers, sealed with SECRETS_KEY. */
  credentials: text().notNull(),
  createdAt: isoColumn('created_at').notNull(),
  updatedAt: isoColumn('updated_at').notNull(),
});

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

/**
 * Every webhook as it was received, and the queue of those to be processed.
 * `due_at` is when it may be claimed: now, after a backoff, or when the lease of its claimer ends.
 */
export const inbox = pgTable(
  'inbox',
  {
    ...ofStore,
    /** UUIDv7: the order of receipt, and its time. */
    id: uuid().notNull(),
    event: text().$type<HookEvent>().notNull(),
    /** Provider in the path. */
    service: text(),
    /** Events of one entity are processed one after the other. Null: the body names none. */
    entity: text(),
    /** 8 bytes that identify the entity, 16 bytes that identify the content (see inbox/dedup.ts). */
    dedup: bytea().notNull(),
    body: bytea().notNull(),
    headers: jsonb().$type<Record<string, string>>().notNull(),
    receivedAt: isoColumn('received_at').notNull(),
    state: text({ enum: eventStates }).notNull().default('pending'),
    ...queued,
    finishedAt: isoColumn('finished_at'),
  },
  (table) => [
    byId(table),
    unique('inbox_dedup').on(table.storeId, table.dedup),
    due('inbox', table, sql`state = 'pending'`),
    index('inbox_entity')
      .on(table.storeId, table.entity, table.id)
      .where(sql`finished_at is null`),
    // For lists by state and by entity. Expressions, so that the planner does not use them for the queue.
    index('inbox_state')
      .on(table.storeId, sql`(state || '')`, table.id)
      .where(sql`state || '' <> 'done'`),
    index('inbox_entity_id')
      .on(table.storeId, sql`substr(entity, strpos(entity, ':') + 1)`, table.id)
      .where(sql`entity is not null`),
  ],
);

/** Records of unmasked views of event bodies. */
export const eventReveals = pgTable(
  'event_reveals',
  {
    ...ofStore,
    id: uuid().notNull(),
    eventId: uuid('event_id').notNull(),
    revealedBy: text('revealed_by').notNull(),
    requestId: text('request_id').notNull(),
    revealedAt: isoColumn('revealed_at').notNull(),
  },
  (table) => [byId(table)],
);

/** The order that a 3DS transaction pays. */
export const payments = pgTable(
  'payments',
  {
    ...ofStore,
    service: text().notNull(),
    transactionId: text('transaction_id').notNull(),
    orderId: text('order_id').notNull(),
    createdAt: isoColumn('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.service, table.transactionId] }),
    // To find out whether a transaction belongs to another store.
    index('payments_transaction_anywhere').on(table.service, table.transactionId),
  ],
);

/** Challenges with a final result; each belongs to one payment permanently. */
export const paymentChallenges = pgTable(
  'payment_challenges',
  {
    ...ofStore,
    service: text().notNull(),
    /** The 3DS server's own id. */
    threeDSServerTransId: text('three_ds_server_trans_id').notNull(),
    transactionId: text('transaction_id').notNull(),
    /** Encrypted; kept for a day: success or failure, CAVV and ECI. */
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
