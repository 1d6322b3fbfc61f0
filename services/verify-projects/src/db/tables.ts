import { sql } from 'drizzle-orm';
import {
  check,
  customType,
  foreignKey,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';

/**
 * An instant to the millisecond, as the wire has it: ISO 8601, UTC. No finer, so that what a client
 * has read and sends back as `modified_after` is exactly what is stored.
 */
const instant = customType<{ data: string; driverData: string }>({
  dataType: () => 'timestamp(3) with time zone',
  fromDriver: (value) => new Date(value).toISOString(),
});

/** The latest stamp that take_stamp() gave, in milliseconds since 1970 (docs/adr/0050). */
export const projectClock = pgSequence('project_clock', { minValue: 0, startWith: 0 });

/** Fields are spelled as on the wire. */
export const projects = pgTable(
  'projects',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    status: text().notNull(),
    source_language: text().notNull(),
    target_languages: text().array().notNull(),
    created_at: instant().notNull(),
    /** Only ever from take_stamp(), so that whoever walks by it misses nothing. */
    updated_at: instant().notNull(),
    /** The project as JSON text: written when it changes, not each time it is read (docs/adr/0051). */
    wire: text()
      .notNull()
      .generatedAlwaysAs(
        sql`project_wire(id, name, status, source_language, target_languages, created_at, updated_at)`,
      ),
  },
  (table) => [
    check(
      'projects_status_known',
      sql`${table.status} in ('draft', 'active', 'in_review', 'completed', 'archived')`,
    ),
  ],
);

export const languages = pgTable(
  'languages',
  {
    code: text().primaryKey(),
    name: text().notNull(),
    native_name: text().notNull(),
    direction: text().$type<'ltr' | 'rtl'>().notNull(),
  },
  (table) => [check('languages_direction_known', sql`${table.direction} in ('ltr', 'rtl')`)],
);

export const deliverables = pgTable(
  'deliverables',
  {
    project_id: uuid().notNull(),
    id: uuid().notNull(),
    language: text().notNull(),
    type: text().notNull(),
    status: text().notNull(),
    due_at: instant(),
    updated_at: instant().notNull(),
    /** As in projects. */
    wire: text()
      .notNull()
      .generatedAlwaysAs(sql`deliverable_wire(project_id, id, language, type, status, due_at, updated_at)`),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.id] }),
    foreignKey({ columns: [table.project_id], foreignColumns: [projects.id] }).onDelete('cascade'),
    check(
      'deliverables_type_known',
      sql`${table.type} in ('report', 'certificate', 'transcript', 'translation', 'evidence')`,
    ),
    check(
      'deliverables_status_known',
      sql`${table.status} in ('pending', 'in_progress', 'delivered', 'accepted', 'rejected')`,
    ),
  ],
);

/** One row a secret: rotating a key adds a row. The secret itself is nowhere. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    /** SHA-256 of the key in hex. */
    hash: text().notNull(),
    /** First and last letters of the key. */
    key_hint: text().notNull(),
    scopes: text().array().notNull(),
    created_at: instant().notNull(),
    expires_at: instant(),
    revoked_at: instant(),
    last_used_at: instant(),
  },
  (table) => [uniqueIndex('api_keys_by_hash').on(table.hash)],
);
