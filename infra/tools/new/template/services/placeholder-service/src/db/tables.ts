import { pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

export const spareParts = pgTable('spare_parts', {
  /** UUIDv7: grows with time, so that the primary key is the order of the list too. */
  sparePartId: uuid('spare_part_id').primaryKey(),
  name: text().notNull(),
  createdAt: instant('created_at').notNull(),
});
