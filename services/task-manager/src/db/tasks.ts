import { isoColumn, oneOf } from '@platform/service-kit/columns';
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
import { users } from './accounts.ts';

const words = customType<{ data: string }>({ dataType: () => 'tsvector' });

/**
 * SQL that normalizes a text for word search; stored texts and queries use the same. Applies NFKC. Replaces by spaces the
 * characters that join words (in addresses, file names, before numbers), and those that make PostgreSQL's parser skip a word,
 * because it takes the word for an HTML tag or entity.
 */
export const searchText = (text: string): string =>
  `translate(normalize(${text}, NFKC), './:@_-+<>&', '          ')`;

export const taskStatus = pgEnum('task_status', ['todo', 'in_progress', 'done']);

/** Priorities in sort order. */
export const taskPriority = pgEnum('task_priority', ['low', 'medium', 'high', 'urgent']);

/** Roles in a list: an owner may do everything, an editor may change tasks, a viewer may read. */
export const listRoles = ['owner', 'editor', 'viewer'] as const;

/** Task lists that several users share. */
export const lists = pgTable('lists', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  createdAt: isoColumn('created_at').notNull(),
  updatedAt: isoColumn('updated_at').notNull(),
});

/** Members of a list, and invited addresses. `user_id` is null until the invitation is accepted. */
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
    /** Id of the invitation; part of its code. */
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

/**
 * Queue of background work after a change of a list. With `assignee_id`: unassign the tasks of this former member. Without: delete
 * all tasks of the deleted list.
 */
export const listLeftovers = pgTable('list_leftovers', {
  id: uuid().primaryKey().defaultRandom(),
  listId: uuid('list_id').notNull(),
  assigneeId: uuid('assignee_id'),
});

export const tasks = pgTable(
  'tasks',
  {
    /** A user or a list, so that the same indexes serve the pages of both. */
    ownerId: uuid('owner_id').notNull(),
    id: uuid().notNull(),
    /** Equals the owner if that is a list, otherwise null. */
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
    /** Words for the filter `q`, without positions to stay small: a search reads this column of all tasks of its user. */
    words: words()
      .notNull()
      .generatedAlwaysAs(
        sql`strip(to_tsvector('simple', ${sql.raw(searchText("title || ' ' || description"))}))`,
      ),
    /** The task as JSON text, generated when the task changes instead of at each read (docs/adr/0188). */
    json: text()
      .notNull()
      .generatedAlwaysAs(
        sql`task_json(id, title, description, status, priority, due_date, due_at, tags, list_id, assignee_id, completed_at, created_at, updated_at, version)`,
      ),
  },
  (table) => [
    primaryKey({ columns: [table.ownerId, table.id] }),
    // One index per sort field; the opposite direction reads it backwards, and sorts only tasks with equal values, by id. NULLS
    // FIRST is what a plain ORDER BY … DESC means, although these columns have no nulls; desc() alone would mean NULLS LAST.
    index('tasks_by_created').on(table.ownerId, table.createdAt.desc().nullsFirst(), table.id),
    index('tasks_by_updated').on(table.ownerId, table.updatedAt.desc().nullsFirst(), table.id),
    index('tasks_by_priority').on(table.ownerId, table.priority.desc().nullsFirst(), table.id),
    index('tasks_by_title').on(table.ownerId, sql`title collate "und-x-icu"`, table.id),
    // Two indexes, because nulls come last in both directions, which one index can't provide.
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
