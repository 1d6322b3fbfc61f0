import { sql } from 'drizzle-orm';
import {
  bigint,
  customType,
  date,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';

/** A point in time, written as the wire has it: ISO 8601, UTC, milliseconds. */
const instant = customType<{ data: string; driverData: string }>({
  dataType: () => 'timestamp (3) with time zone',
  fromDriver: (value) => new Date(value).toISOString(),
});

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const words = customType<{ data: string }>({ dataType: () => 'tsvector' });

/**
 * A text as its words are looked for: however its letters are composed, and with spaces for what would join
 * words (addresses, file names, signs before numbers) or hide them (PostgreSQL skips what looks like a tag or
 * an entity of HTML). The same for what is stored and for what is sought.
 */
export const plainWords = (text: string): string =>
  `translate(normalize(${text}, NFKC), './:@_-+<>&', '          ')`;

export const taskStatus = pgEnum('task_status', ['todo', 'in_progress', 'done']);

/** Sorts in this order. */
export const taskPriority = pgEnum('task_priority', ['low', 'medium', 'high', 'urgent']);

export const users = pgTable(
  'users',
  {
    id: uuid().primaryKey(),
    /** Trimmed and in lower case. */
    email: text().notNull(),
    name: text(),
    passwordHash: text('password_hash').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [unique('users_email').on(table.email)],
);

const owner = () => uuid('user_id').notNull();

/** A session lasts as long as its row, but not beyond `expiresAt`. */
export const sessions = pgTable(
  'sessions',
  {
    userId: owner().references(() => users.id, { onDelete: 'cascade' }),
    id: uuid().notNull(),
    /** SHA-256 of the one refresh token that is good. */
    refreshHash: bytes('refresh_hash').notNull(),
    createdAt: instant('created_at').notNull(),
    /** Moves on with each refresh. */
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.id] })],
);

/** Networks from which a user has logged in: a login throttle of the whole network lets the user through. */
export const knownNetworks = pgTable(
  'known_networks',
  {
    userId: owner().references(() => users.id, { onDelete: 'cascade' }),
    /** An IPv4 address or an IPv6 /64. */
    network: text().notNull(),
    /** The last login, give or take a day. */
    seenAt: instant('seen_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.network] })],
);

export const tasks = pgTable(
  'tasks',
  {
    userId: owner().references(() => users.id, { onDelete: 'cascade' }),
    id: uuid().notNull(),
    title: text().notNull(),
    description: text().notNull(),
    status: taskStatus().notNull(),
    priority: taskPriority().notNull(),
    dueDate: date('due_date', { mode: 'string' }),
    tags: text().array().notNull(),
    completedAt: instant('completed_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer().notNull(),
    /** For `q`. */
    words: words()
      .notNull()
      .generatedAlwaysAs(sql`to_tsvector('simple', ${sql.raw(plainWords("title || ' ' || description"))})`),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.id] }),
    // One index an order; the other direction reads it backwards and sorts only what ties. (Columns
    // without nulls: "nulls first" is what ORDER BY … DESC means, so that the index serves it.)
    index('tasks_by_created').on(table.userId, table.createdAt.desc().nullsFirst(), table.id),
    index('tasks_by_updated').on(table.userId, table.updatedAt.desc().nullsFirst(), table.id),
    index('tasks_by_priority').on(table.userId, table.priority.desc().nullsFirst(), table.id),
    index('tasks_by_title').on(table.userId, sql`title collate "und-x-icu"`, table.id),
    // Nulls come last both ways, which no index read backwards gives.
    index('tasks_by_due').on(table.userId, table.dueDate.asc().nullsLast(), table.id),
    index('tasks_by_due_desc').on(table.userId, table.dueDate.desc().nullsLast(), table.id),
  ],
);

/** Counts the changes to a user's tasks (by triggers): what was read at one revision holds while it lasts. */
export const taskLists = pgTable('task_lists', {
  userId: owner().primaryKey(),
  revision: bigint({ mode: 'bigint' }).notNull(),
});

export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    userId: owner().references(() => users.id, { onDelete: 'cascade' }),
    key: text().notNull(),
    /** SHA-256 of the request that came first. */
    requestHash: bytes('request_hash').notNull(),
    /** What it was answered; null only inside the transaction that does the work. */
    answer: jsonb(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.key] }),
    index('idempotency_keys_by_age').on(table.userId, table.createdAt),
  ],
);
