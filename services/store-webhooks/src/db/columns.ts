import { bigint, customType, text } from 'drizzle-orm/pg-core';

export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** Personal data of a customer. */
export const profile = () => ({
  email: text(),
  firstName: text('first_name'),
  lastName: text('last_name'),
  phone: text(),
});

/** When, or how often, the provider changed the record; an older version never replaces a newer one. */
export const version = () => bigint({ mode: 'number' });
