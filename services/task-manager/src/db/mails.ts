import { isoColumn, oneOf } from '@platform/service-kit/columns';
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { mailKinds } from '../mails/texts/texts.ts';
import { users } from './accounts.ts';

const mailStates = ['pending', 'sent', 'failed', 'unwanted', 'used'] as const;

/**
 * Outbox of mails. A mail is deleted two days after it was sent. The code in a mail is derived from its ids (docs/adr/0184).
 * `worker`, `attempts`, `due_at` and `error` belong to the lease (leased work of the kit).
 */
export const mails = pgTable(
  'mails',
  {
    /** MD5 of the recipient: the workers take turns between owners. */
    owner: uuid().notNull(),
    id: uuid().notNull(),
    kind: text({ enum: mailKinds }).notNull(),
    /** An address that somebody entered; it need not belong to a user. */
    recipient: text().notNull(),
    /** The user who invites, or who changes their address. */
    sender: uuid().references(() => users.id, { onDelete: 'cascade' }),
    listId: uuid('list_id'),
    invitation: uuid(),
    state: text({ enum: mailStates }).notNull(),
    worker: uuid(),
    attempts: integer().notNull(),
    dueAt: isoColumn('due_at').notNull(),
    error: text(),
    createdAt: isoColumn('created_at').notNull(),
    /** When the mail is no longer sent and its code becomes invalid. */
    expiresAt: isoColumn('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.owner, table.id] }),
    oneOf('mails_kind', table.kind, mailKinds),
    oneOf('mails_state', table.state, mailStates),
    index('mails_due')
      .on(table.owner, table.dueAt)
      .where(sql`state = 'pending'`),
    index('mails_by_sender').on(table.sender, table.createdAt),
    index('mails_by_age').on(table.createdAt),
  ],
);

/** Instances that send mails. An instance that does not extend `alive_until` in time counts as dead. */
export const workers = pgTable('workers', {
  id: uuid().primaryKey(),
  aliveUntil: isoColumn('alive_until').notNull(),
});
