import { bigint, customType, text, timestamp } from 'drizzle-orm/pg-core';

export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

/** What is told of a person. */
export const profile = () => ({
  email: text(),
  firstName: text('first_name'),
  lastName: text('last_name'),
  phone: text(),
});

/** When or how often the provider changed what a record says; an older one never replaces a newer one. */
export const version = () => bigint({ mode: 'number' });
