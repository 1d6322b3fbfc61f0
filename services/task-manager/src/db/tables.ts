import { isoColumn, oneOf } from '@platform/service-kit/columns';
export { idempotencyKeys } from '@platform/service-kit/idempotency';
import { sql } from 'drizzle-orm';
import {
  customType,
  date,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';

import { securityEventKinds } from '../security/kinds.ts';
import { languages } from '../mails/texts/texts.ts';

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const words = customType<{ data: string }>({ dataType: () => 'tsvector' });

/**
 * SQL that prepares a text for word search, the same for stored text and for queries: NFKC, and spaces
 * in place of characters that join words (in addresses, file names, before numbers) or that make
 * PostgreSQL's parser skip a word, because it looks like an HTML tag or entity.
 */
export const searchText = (text: string): string =>
  `translate(normalize(${text}, NFKC), './:@_-+<>&', '          ')`;

export const taskStatus = pgEnum('task_status', ['todo', 'in_progress', 'done']);

/** In sort order. */
export const taskPriority = pgEnum('task_priority', ['low', 'medium', 'high', 'urgent']);

/** What a member may do in a list: an owner everything, an editor change tasks, a viewer read. */
export const listRoles = ['owner', 'editor', 'viewer'] as const;

export const users = pgTable(
  'users',
  {
    id: uuid().primaryKey(),
    /** Trimmed and in lower case. */
    email: text().notNull(),
    name: text(),
    passwordHash: text('password_hash').notNull(),
    language: text({ enum: languages }).notNull().default('en'),
    /** When the user first proved that the address is theirs. */
    emailVerifiedAt: isoColumn('email_verified_at'),
    createdAt: isoColumn('created_at').notNull(),
    /** From then on the user is erased; until then a login takes it back. */
    deletionAt: isoColumn('deletion_at'),
    /** Since when nobody can log in, because an operator has locked the account. */
    lockedAt: isoColumn('locked_at'),
    version: integer().notNull().default(1),
  },
  (table) => [
    unique('users_email').on(table.email),
    index('users_to_erase')
      .on(table.deletionAt)
      .where(sql`deletion_at is not null`),
  ],
);

const owner = () => uuid('user_id').notNull();

export const mailKinds = [
  'invitation',
  'password_reset',
  'email_verification',
  'email_change',
  'password_changed',
  'email_changed',
  'session_ended',
  'deletion_requested',
  'deletion_undone',
] as const;
export type MailKind = (typeof mailKinds)[number];
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

/** A session lasts until its row is deleted or `expiresAt` has passed. Expired rows are deleted (outdated.ts). */
export const sessions = pgTable(
  'sessions',
  {
    userId: owner().references(() => users.id, { onDelete: 'cascade' }),
    id: uuid().notNull(),
    /** SHA-256 of the one valid refresh token. */
    refreshHash: bytes('refresh_hash').notNull(),
    /** When that token replaced the one before it; null for the first token. */
    rotatedAt: isoColumn('rotated_at'),
    /** Browser and system in words, as of the login. */
    browser: text().notNull(),
    /** Where it was last used: an IPv4 address or an IPv6 /64. */
    network: text().notNull(),
    createdAt: isoColumn('created_at').notNull(),
    /** When the user last gave the password in this session. */
    authenticatedAt: isoColumn('authenticated_at').notNull(),
    /** To five minutes. */
    lastUsedAt: isoColumn('last_used_at').notNull(),
    /** Each refresh extends it, until the session is SESSION_MAX_DAYS old. */
    expiresAt: isoColumn('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.id] }),
    index('sessions_by_expiry').on(table.expiresAt),
  ],
);

/** Networks from which a user has logged in: a login throttle of the whole network lets the user through. */
export const knownNetworks = pgTable(
  'known_networks',
  {
    userId: owner().references(() => users.id, { onDelete: 'cascade' }),
    /** An IPv4 address or an IPv6 /64. */
    network: text().notNull(),
    /** The last login, give or take a day. */
    seenAt: isoColumn('seen_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.network] }),
    index('known_networks_by_age').on(table.seenAt),
  ],
);

/** Logins, refusals and changes of an account, for 90 days: those of a day that are alike are one row. */
export const securityEvents = pgTable(
  'security_events',
  {
    userId: owner().references(() => users.id, { onDelete: 'cascade' }),
    /** In UTC. */
    day: date({ mode: 'string' }).notNull(),
    kind: text({ enum: securityEventKinds }).notNull(),
    /** An IPv4 address or an IPv6 /64. */
    network: text().notNull(),
    /** Browser and system in words. */
    browser: text().notNull(),
    count: integer().notNull(),
    firstAt: isoColumn('first_at').notNull(),
    lastAt: isoColumn('last_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.day, table.kind, table.network, table.browser] }),
    oneOf('security_events_kind', table.kind, securityEventKinds),
    index('security_events_by_age').on(table.day),
  ],
);

/** Tasks that several users share. */
export const lists = pgTable('lists', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  createdAt: isoColumn('created_at').notNull(),
  updatedAt: isoColumn('updated_at').notNull(),
});

/** The members of a list, and those that are invited and have no user yet. */
export const listMembers = pgTable(
  'list_members',
  {
    listId: uuid('list_id')
      .notNull()
      .references(() => lists.id, { onDelete: 'cascade' }),
    /** Trimmed and in lower case. */
    email: text().notNull(),
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    role: text({ enum: listRoles }).notNull(),
    /** Identifies the invitation, in its secret. */
    invitation: uuid().notNull(),
    invitedAt: isoColumn('invited_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.listId, table.email] }),
    oneOf('list_members_role', table.role, listRoles),
    unique('list_members_by_user').on(table.userId, table.listId),
    index('list_members_invited')
      .on(table.invitedAt)
      .where(sql`user_id is null`),
  ],
);

export const tasks = pgTable(
  'tasks',
  {
    /** A user, or a list: so the pages of both are read from the same indexes. */
    ownerId: uuid('owner_id').notNull(),
    id: uuid().notNull(),
    /** The owner, where it is a list. */
    listId: uuid('list_id'),
    title: text().notNull(),
    description: text().notNull(),
    status: taskStatus().notNull(),
    priority: taskPriority().notNull(),
    dueDate: date('due_date', { mode: 'string' }),
    /** A time on the due date. */
    dueAt: isoColumn('due_at'),
    tags: text().array().notNull(),
    /** A member of the list. */
    assigneeId: uuid('assignee_id'),
    completedAt: isoColumn('completed_at'),
    createdAt: isoColumn('created_at').notNull(),
    updatedAt: isoColumn('updated_at').notNull(),
    version: integer().notNull(),
    /** For `q`, without positions: a search reads this of every task of its user. */
    words: words()
      .notNull()
      .generatedAlwaysAs(
        sql`strip(to_tsvector('simple', ${sql.raw(searchText("title || ' ' || description"))}))`,
      ),
  },
  (table) => [
    primaryKey({ columns: [table.ownerId, table.id] }),
    // One index for each sort field; the other direction reads it backwards and sorts only equal values.
    // (These columns have no nulls, but an index serves ORDER BY … DESC only with NULLS FIRST.)
    index('tasks_by_created').on(table.ownerId, table.createdAt.desc().nullsFirst(), table.id),
    index('tasks_by_updated').on(table.ownerId, table.updatedAt.desc().nullsFirst(), table.id),
    index('tasks_by_priority').on(table.ownerId, table.priority.desc().nullsFirst(), table.id),
    index('tasks_by_title').on(table.ownerId, sql`title collate "und-x-icu"`, table.id),
    // Nulls come last in both directions, which one index can't provide.
    index('tasks_by_due').on(
      table.ownerId,
      table.dueDate.asc().nullsLast(),
      table.dueAt.asc().nullsLast(),
      table.id,
    ),
    index('tasks_by_due_desc').on(
      table.ownerId,
      table.dueDate.desc().nullsLast(),
      table.dueAt.desc().nullsLast(),
      table.id,
    ),
    index('tasks_by_assignee')
      .on(table.ownerId, table.assigneeId, table.createdAt)
      .where(sql`assignee_id is not null`),
  ],
);
