import { integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

export const quests = pgTable('quests', {
  questId: uuid('quest_id').primaryKey(),
  title: text().notNull(),
  createdAt: instant('created_at').notNull(),
});
