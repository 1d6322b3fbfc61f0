import { isoColumn, oneOf } from '@platform/service-kit/columns';
import { sql } from 'drizzle-orm';
import {
  customType,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { languages } from '../mails/texts/texts.ts';
import { securityEventKinds } from '../security/event-kinds.ts';

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

export const users = pgTable(
  'users',
  {
    id: uuid().primaryKey(),
    /** Trimmed and in lower case. */
    email: text().notNull(),
    name: text(),
    passwordHash: text('password_hash').notNull(),
    language: text({ enum: languages }).notNull().default('en'),
    /** When the user first confirmed the address. */
    emailVerifiedAt: isoColumn('email_verified_at'),
    createdAt: isoColumn('created_at').notNull(),
    /** When the erasure of the user starts; a login before then cancels it. */
    deletionAt: isoColumn('deletion_at'),
    /** When an operator locked the account; null: not locked. */
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

/** SQL: the erasure of a user is not due. When it is due, the account is treated as if it did not exist. */
export const isNotDueForErasure = 'coalesce(deletion_at > now(), true)';

const userIdColumn = () => uuid('user_id').notNull();

/** A session lasts until its row is deleted or expires. Expired rows are deleted in the background (outdated.ts). */
export const sessions = pgTable(
  'sessions',
  {
    userId: userIdColumn().references(() => users.id, { onDelete: 'cascade' }),
    id: uuid().notNull(),
    /** SHA-256 of the only valid refresh token. */
    refreshHash: bytes('refresh_hash').notNull(),
    /** When that token replaced the previous one; null for the first token. */
    rotatedAt: isoColumn('rotated_at'),
    /** Browser and operating system at the login, as text. */
    browser: text().notNull(),
    /** Network of the last use: an IPv4 address or an IPv6 /64. */
    network: text().notNull(),
    createdAt: isoColumn('created_at').notNull(),
    /** When the user last entered the password in this session. */
    authenticatedAt: isoColumn('authenticated_at').notNull(),
    /** Updated at most every five minutes. */
    lastUsedAt: isoColumn('last_used_at').notNull(),
    /** Each refresh extends it, until the session is SESSION_MAX_DAYS old. */
    expiresAt: isoColumn('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.id] }),
    index('sessions_by_expiry').on(table.expiresAt),
  ],
);

/** Networks from which a user has logged in. A wait of such a network does not apply to the user. */
export const knownNetworks = pgTable(
  'known_networks',
  {
    userId: userIdColumn().references(() => users.id, { onDelete: 'cascade' }),
    /** An IPv4 address or an IPv6 /64. */
    network: text().notNull(),
    /** Last login from the network; updated at most once a day. */
    seenAt: isoColumn('seen_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.network] }),
    index('known_networks_by_age').on(table.seenAt),
  ],
);

/** Logins, failures and changes of an account of the last 90 days. Equal events of a day are one row with a count. */
export const securityEvents = pgTable(
  'security_events',
  {
    userId: userIdColumn().references(() => users.id, { onDelete: 'cascade' }),
    /** Day in UTC. */
    day: date({ mode: 'string' }).notNull(),
    kind: text({ enum: securityEventKinds }).notNull(),
    /** An IPv4 address or an IPv6 /64. */
    network: text().notNull(),
    /** Browser and operating system as text. */
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
