import { integer, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { directory } from '../src/directory/declare.ts';
import { directorySql } from '../src/directory/sql.ts';

const columns = () => ({
  id: uuid('id').primaryKey(),
  changedAt: timestamp('changed_at', { withTimezone: true, precision: 3 }).notNull(),
  owner: uuid('owner').notNull(),
  kind: integer('kind'),
  note: text('note').notNull().default(''),
});

export const rising = pgTable('rising', columns());
export const falling = pgTable('falling', columns());

/** Buckets and shelves so small that every history splits and joins them. */
const declare = (table: typeof rising | typeof falling, newestFirst: boolean) =>
  directory({
    at: table.changedAt,
    id: table.id,
    newestFirst,
    filters: [table.owner, table.kind],
    watched: [table.note],
    carried: [table.kind],
    bucket: 3,
    shelf: 2,
  });

export const risingDirectory = declare(rising, false);
export const fallingDirectory = declare(falling, true);
export const directories = [risingDirectory, fallingDirectory];

const tableSql = (name: string) => `create table ${name} (
  id uuid primary key, changed_at timestamptz(3) not null, owner uuid not null, kind integer, note text not null default '')`;

export const listsSql = directories
  .flatMap((list) => [tableSql(list.table), directorySql(list)])
  .join('\n--> statement-breakpoint\n');

export const owners = [1, 2, 3].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);
export const kinds = [0, 1, 2];
