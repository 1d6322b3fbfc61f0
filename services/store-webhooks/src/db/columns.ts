import { isoColumn } from '@platform/service-kit/columns';
import type { SQL } from 'drizzle-orm';
import {
  bigint,
  customType,
  index,
  integer,
  primaryKey,
  text,
  uuid,
  type AnyPgColumn,
} from 'drizzle-orm/pg-core';

export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** The store of a row; the first column of every key. */
export const storeIdColumn = { storeId: uuid('store_id').notNull() };

/** Personal data of a customer. */
export const profileColumns = {
  email: text(),
  firstName: text('first_name'),
  lastName: text('last_name'),
  phone: text(),
};

/** Time or number of the change at the provider; an older version never replaces a newer one. */
export const version = bigint({ mode: 'number' });

/** The event that last changed the record. */
export const sourceEventColumns = {
  eventId: uuid('event_id').notNull(),
  updatedAt: isoColumn('updated_at').notNull(),
};

/** Columns of work to be done: a row without a worker may be claimed once `due_at` (now, or after a backoff) has passed. */
export const queueColumns = {
  worker: uuid(),
  attempts: integer().notNull().default(0),
  dueAt: isoColumn('due_at').notNull(),
  error: text(),
};

type Columns<Name extends string> = Record<Name, AnyPgColumn>;

/** The primary key of records that are identified by an id within their store. */
export const idKey = ({ storeId, id }: Columns<'storeId' | 'id'>) => primaryKey({ columns: [storeId, id] });

/** Index for the list of the most recently changed records. */
export const latestIndex = (name: string, { storeId, eventId }: Columns<'storeId' | 'eventId'>) =>
  index(`${name}_latest`).on(storeId, eventId);

/** Index to claim due work store by store. */
export const dueIndex = (name: string, { storeId, dueAt }: Columns<'storeId' | 'dueAt'>, isPending: SQL) =>
  index(`${name}_due`).on(storeId, dueAt).where(isPending);
