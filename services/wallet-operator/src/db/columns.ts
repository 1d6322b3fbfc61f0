import { dateColumn } from '@platform/service-kit/columns';
import { sql } from 'drizzle-orm';
import { bigint, uuid } from 'drizzle-orm/pg-core';

/** Money in minor units, or a sequence number; may exceed 2^53, so never a JavaScript number. */
export const minor = (name: string) => bigint(name, { mode: 'bigint' });

/** As `minor`, with 0 as the default. */
export const fromZero = (name: string) =>
  minor(name)
    .notNull()
    .default(sql`0`);

/** A UUIDv7, which the database generates. */
export const newId = (name: string) => uuid(name).default(sql`uuidv7()`);

/** The time at which the row was inserted. */
export const addedAt = (name: string) =>
  dateColumn(name)
    .notNull()
    .default(sql`now()`);
