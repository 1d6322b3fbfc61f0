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

/** The store of a row; it leads every key. */
export const ofStore = { storeId: uuid('store_id').notNull() };

/** Personal data of a customer. */
export const profile = {
  email: text(),
  firstName: text('first_name'),
  lastName: text('last_name'),
  phone: text(),
};

/** Time or number of the change at the provider; an older version never replaces a newer one. */
export const version = bigint({ mode: 'number' });

/** The event that last changed the record. */
export const fromEvent = {
  eventId: uuid('event_id').notNull(),
  updatedAt: isoColumn('updated_at').notNull(),
};

/** Work to be done: it may be claimed from `due_at` on, which is now or after a backoff, while it has no worker. */
export const queued = {
  worker: uuid(),
  attempts: integer().notNull().default(0),
  dueAt: isoColumn('due_at').notNull(),
  error: text(),
};

type Columns<Name extends string> = Record<Name, AnyPgColumn>;

/** The primary key of records with an id of their own. */
export const byId = ({ storeId, id }: Columns<'storeId' | 'id'>) => primaryKey({ columns: [storeId, id] });

/** For the list of the records that changed last. */
export const latest = (name: string, { storeId, eventId }: Columns<'storeId' | 'eventId'>) =>
  index(`${name}_latest`).on(storeId, eventId);

/** For claiming what is due, store by store. */
export const due = (name: string, { storeId, dueAt }: Columns<'storeId' | 'dueAt'>, isPending: SQL) =>
  index(`${name}_due`).on(storeId, dueAt).where(isPending);
