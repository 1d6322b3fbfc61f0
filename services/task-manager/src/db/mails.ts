import { isoColumn, oneOf } from '@platform/service-kit/columns';
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { mailKinds } from '../mails/texts/texts.ts';
import { users } from './accounts.ts';

const mailStates = ['pending', 'sent', 'failed', 'unwanted', 'used'] as const;

/**
 * Mails, kept for two days after they were sent. The secret of a mail is made from its ids (docs/adr/0184). `worker`,
 * `attempts`, `due_at` and `error` are those of leased work.
 */
export const mails = pgTable(
  'mails',
  {
    /** The MD5 of the address, so that recipients take turns. */
    owner: uuid().notNull(),
    id: uuid().notNull(),
    kind: text({ enum: mailKinds }).notNull(),
    /** An address that somebody entered; it may have no user. */
    recipient: text().notNull(),
    /** The user who invites, or whose address changes. */
    sender: uuid().references(() => users.id, { onDelete: 'cascade' }),
    listId: uuid('list_id'),
    invitation: uuid(),
    state: text({ enum: mailStates }).notNull(),
    worker: uuid(),
    attempts: integer().notNull(),
    dueAt: isoColumn('due_at').notNull(),
    error: text(),
    createdAt: isoColumn('created_at').notNull(),
    /** Then it is not sent any more, and its secret is void. */
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

/** The instances that send mails. One that does not extend `alive_until` in time is dead. */
export const workers = pgTable('workers', {
  id: uuid().primaryKey(),
  aliveUntil: isoColumn('alive_until').notNull(),
});
