import { customType, timestamp } from 'drizzle-orm/pg-core';

/** A point in time to the millisecond, read as a Date: timestamp(3) with time zone. */
export const dateColumn = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** The same column, read and written as text: ISO 8601, UTC, milliseconds. */
export const isoColumn = customType<{ data: string; driverData: string }>({
  dataType: () => 'timestamp (3) with time zone',
  fromDriver: (value) => new Date(value).toISOString(),
});
