import { dateColumn, oneOf } from '@platform/service-kit/columns';
export { idempotencyKeys } from '@platform/service-kit/idempotency';
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';

/** The first value of each is required by docs/contracts/quest-service.md; the others are additions. */
export const questionTypes = ['SINGLE_CHOICE', 'MULTIPLE_CHOICE', 'OPEN_TEXT', 'SCALE'] as const;
export const presentations = ['HORIZONTAL', 'VERTICAL', 'DROPDOWN'] as const;

/**
 * The draft of a published quest is also a row of this table, with its own questions; `draftOf` is the id of the published
 * quest. No response contains the id of such a draft. Source: docs/adr/0138.
 */
export const quests = pgTable(
  'quests',
  {
    questId: uuid('quest_id').primaryKey(),
    title: text().notNull(),
    /** The title in each language; to be published, all texts of the quest need these languages. */
    titles: json().notNull().default([]),
    /** Size of the titles, so that a page is measured without reading them. */
    bytes: integer()
      .notNull()
      .generatedAlwaysAs(sql`octet_length(title) + octet_length(titles::text)`),
    /** False for a draft. Only the versions of published quests are cached. */
    published: boolean().notNull().default(true),
    draftOf: uuid('draft_of').unique(),
    /**
     * Who may see it in lists and their changes: `everybody`, `editors` (a draft), or `nobody` (the draft of a published
     * quest).
     */
    audience: text()
      .notNull()
      .generatedAlwaysAs(
        sql`case when draft_of is not null then 'nobody' when published then 'everybody' else 'editors' end`,
      ),
    /** The version of the published quest when this draft was created. */
    basedOn: uuid('based_on'),
    /** Replaced by every write to the quest or its questions; never used twice, not even after a restore. */
    version: uuid().notNull(),
    questionCount: integer('question_count').notNull(),
    createdAt: dateColumn('created_at').notNull(),
    updatedAt: dateColumn('updated_at').notNull(),
  },
  (table) => [
    foreignKey({ columns: [table.draftOf], foreignColumns: [table.questId] }).onDelete('cascade'),
    // Ascending, and read backward: drizzle's `desc()` adds NULLS LAST to an index and not to a query.
    index('quests_newest').on(table.createdAt, table.questId),
  ],
);

/**
 * A question is always read as a whole, so its row contains titles and alternatives; as `json`, which
 * keeps the order of the fields. (quest_id, order_number) is unique as well: the migration adds that
 * constraint by hand, because drizzle does not support deferrable ones.
 */
export const questions = pgTable(
  'questions',
  {
    questId: uuid('quest_id').notNull(),
    questionId: text('question_id').notNull(),
    orderNumber: integer('order_number').notNull(),
    type: text().notNull(),
    presentation: text().notNull(),
    titles: json().notNull(),
    alternatives: json().notNull(),
    /** Size of titles and alternatives, so that a page is measured without reading them. */
    bytes: integer()
      .notNull()
      .generatedAlwaysAs(() => sql`octet_length(titles::text) + octet_length(alternatives::text)`),
  },
  (table) => [
    primaryKey({ columns: [table.questId, table.questionId] }),
    foreignKey({ columns: [table.questId], foreignColumns: [quests.questId] }).onDelete('cascade'),
    oneOf('questions_type_known', table.type, questionTypes),
    oneOf('questions_presentation_known', table.presentation, presentations),
    check('questions_order_number_from_0', sql`${table.orderNumber} >= 0`),
  ],
);
