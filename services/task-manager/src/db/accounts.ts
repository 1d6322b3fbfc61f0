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
import { securityEventKinds } from '../security/kinds.ts';

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

/** SQL: the erasure of a user has not begun. Afterwards an account is as if it did not exist. */
export const isKept = 'coalesce(deletion_at > now(), true)';

const owner = () => uuid('user_id').notNull();

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
