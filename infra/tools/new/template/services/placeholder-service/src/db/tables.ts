import { dateColumn } from '@platform/service-kit/columns';
export { idempotencyKeys } from '@platform/service-kit/idempotency';
import { pgTable, text, uuid } from 'drizzle-orm/pg-core';

export const spareParts = pgTable('spare_parts', {
  /** UUIDv7 grows with time, so the primary key is also the order of the list. */
  sparePartId: uuid('spare_part_id').primaryKey(),
  name: text().notNull(),
  createdAt: dateColumn('created_at').notNull(),
});
