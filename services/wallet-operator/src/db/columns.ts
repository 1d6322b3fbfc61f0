import { dateColumn } from '@platform/service-kit/columns';
import { sql } from 'drizzle-orm';
import { bigint, uuid } from 'drizzle-orm/pg-core';

/** Money in minor units: beyond 2^53, so never a JavaScript number. */
export const minor = (name: string) => bigint(name, { mode: 'bigint' });

/** A balance or a number that begins at 0. */
export const fromZero = (name: string) =>
  minor(name)
    .notNull()
    .default(sql`0`);

/** An id by time, which the database makes. */
export const newId = (name: string) => uuid(name).default(sql`uuidv7()`);

/** When the row was added. */
export const addedAt = (name: string) =>
  dateColumn(name)
    .notNull()
    .default(sql`now()`);
