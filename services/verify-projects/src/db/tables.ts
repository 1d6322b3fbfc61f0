import { isoColumn, oneOf } from '@platform/service-kit/columns';
export { idempotencyKeys } from '@platform/service-kit/idempotency';
import { sql } from 'drizzle-orm';
import {
  foreignKey,
  index,
  integer,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';

/** The latest time that next_updated_at() returned, in milliseconds since 1970 (docs/adr/0050). */
export const latestUpdatedAt = pgSequence('latest_updated_at', { minValue: 0, startWith: 0 });

export const projectStatuses = ['draft', 'active', 'in_review', 'completed', 'archived'] as const;
export const deliverableTypes = ['report', 'certificate', 'transcript', 'translation', 'evidence'] as const;
export const deliverableStatuses = ['pending', 'in_progress', 'delivered', 'accepted', 'rejected'] as const;
export const directions = ['ltr', 'rtl'] as const;

/** Fields are spelled as in the API. */
export const projects = pgTable(
  'projects',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    status: text().notNull(),
    source_language: text().notNull(),
    target_languages: text().array().notNull(),
    created_at: isoColumn('created_at').notNull(),
    /** Set only by next_updated_at(), so that clients that read by it miss no change. */
    updated_at: isoColumn('updated_at').notNull(),
    /** The first updated_at with which it was archived; null while it is not. */
    archived_at: isoColumn('archived_at'),
    /** Who ordered it. API keys can be limited to the projects of some clients. */
    client: text(),
    due_at: isoColumn('due_at'),
    /** Increases when a caller changes the project, not when its deliverables change. */
    version: integer().notNull().default(1),
    /** The project as JSON text: written when it changes, not each time it is read (docs/adr/0051). */
    json: text()
      .notNull()
      .generatedAlwaysAs(
        sql`project_json(id, name, client, status, source_language, target_languages, due_at, created_at, updated_at, version)`,
      ),
  },
  (table) => [
    // The orders that the page directory reads (src/db/directory.ts).
    index('projects_order').on(table.updated_at, table.id),
    index('projects_by_status').on(table.status, table.updated_at, table.id),
    // For readers that are limited to clients: the same orders for each client and status.
    index('projects_by_client')
      .on(table.client, table.status, table.updated_at, table.id)
      .where(sql`client is not null`),
    oneOf('projects_status_known', table.status, projectStatuses),
  ],
);

export const languages = pgTable(
  'languages',
  {
    code: text().primaryKey(),
    name: text().notNull(),
    native_name: text().notNull(),
    direction: text().notNull(),
  },
  (table) => [oneOf('languages_direction_known', table.direction, directions)],
);

export const deliverables = pgTable(
  'deliverables',
  {
    project_id: uuid().notNull(),
    /** uuidv7() of the database, as in api_keys. */
    id: uuid().notNull(),
    /** That of the project, for the change feed: a deletion must name it when the project is gone. */
    client: text(),
    name: text(),
    language: text().notNull(),
    type: text().notNull(),
    status: text().notNull(),
    file_url: text(),
    assignee: text(),
    due_at: isoColumn('due_at'),
    delivered_at: isoColumn('delivered_at'),
    updated_at: isoColumn('updated_at').notNull(),
    version: integer().notNull().default(1),
    /** The deliverable as JSON text, as in projects. */
    json: text()
      .notNull()
      .generatedAlwaysAs(
        sql`deliverable_json(project_id, id, name, language, type, status, file_url, assignee, due_at, delivered_at, updated_at, version)`,
      ),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.id] }),
    foreignKey({ columns: [table.project_id], foreignColumns: [projects.id] }).onDelete('cascade'),
    oneOf('deliverables_type_known', table.type, deliverableTypes),
    oneOf('deliverables_status_known', table.status, deliverableStatuses),
  ],
);

/**
 * One row for each secret: rotating a key adds a row. The secret itself is not stored. A row is erased 90
 * days after its key was revoked or has expired.
 */
export const apiKeys = pgTable(
  'api_keys',
  {
    /** The database makes the id, so that the order of ids is that of its clock. */
    id: uuid()
      .primaryKey()
      .default(sql`uuidv7()`),
    name: text().notNull(),
    /** SHA-256 of the key in hex. */
    key_hash: text().notNull(),
    /** First and last letters of the key. */
    key_hint: text().notNull(),
    scopes: text().array().notNull(),
    /** The clients whose projects the key can read; null if it can read all. */
    clients: text().array(),
    created_at: isoColumn('created_at')
      .notNull()
      .default(sql`now()`),
    /** What the key was created with, for the keys that replace it. */
    granted_until: isoColumn('granted_until'),
    /** `granted_until`, or the end of the grace period once the key is replaced. */
    expires_at: isoColumn('expires_at'),
    revoked_at: isoColumn('revoked_at'),
    last_used_at: isoColumn('last_used_at'),
  },
  (table) => [uniqueIndex('api_keys_by_hash').on(table.key_hash)],
);
