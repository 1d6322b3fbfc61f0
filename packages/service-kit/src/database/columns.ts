import { sql } from 'drizzle-orm';
import { check, customType, timestamp, type AnyPgColumn } from 'drizzle-orm/pg-core';

/** A point in time to the millisecond, read as a Date: timestamp(3) with time zone. */
export const dateColumn = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** The same column type, read and written as text: ISO 8601, UTC, milliseconds. */
export const isoColumn = customType<{ data: string; driverData: string }>({
  dataType: () => 'timestamp (3) with time zone',
  fromDriver: (value) => new Date(value).toISOString(),
});

/** A check that a text column has one of a few values. The zod schema uses the same list (docs/adr/0106). */
export const oneOf = (name: string, column: AnyPgColumn, values: readonly string[]) =>
  check(name, sql`${column} in (${sql.raw(values.map((value) => `'${value}'`).join(', '))})`);
