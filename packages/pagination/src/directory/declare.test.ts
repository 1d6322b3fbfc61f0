import { integer, pgTable, timestamp, uuid } from 'drizzle-orm/pg-core';
import { expect, it } from 'vitest';
import { directory } from './declare.ts';
import { directorySql } from './sql.ts';

const things = pgTable('things', {
  id: uuid('id').primaryKey(),
  at: timestamp('made_at', { withTimezone: true, precision: 3 }).notNull(),
  kind: integer('kind'),
  odd: integer('odd"; drop table things; --'),
});

it('takes names and types from the table', () => {
  expect(directory({ at: things.at, id: things.id, filters: [things.kind] })).toMatchObject({
    table: 'things',
    at: 'made_at',
    id: 'id',
    newestFirst: false,
    filters: [{ column: 'kind', type: 'integer' }],
  });
});

it('refuses a name that would have to be quoted', () => {
  expect(() => directory({ at: things.at, id: things.id, filters: [things.odd] })).toThrow(
    `can't be named after odd`,
  );
});

it('writes the same SQL for the same declaration', () => {
  const declared = { at: things.at, id: things.id, filters: [things.kind] };
  expect(directorySql(directory(declared))).toBe(directorySql(directory(declared)));
});
