import { getTableColumns } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { ISql, PendingQuery, Row } from 'postgres';

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>;

/** The first row of a statement; undefined when there is none, unless the type of the rows says that there is one. */
export const firstRow = async <Rows extends readonly unknown[]>(
  statement: PromiseLike<Rows>,
): Promise<Rows extends readonly [infer First] ? First : Rows[number] | undefined> =>
  (await statement)[0] as Rows extends readonly [infer First] ? First : Rows[number] | undefined;

/** The column `value` of a statement that always has one row. */
export const firstValue = async <Value>(
  statement: PromiseLike<readonly [{ value: Value }]>,
): Promise<Value> => (await statement)[0].value;

/** A time as ISO 8601, UTC, milliseconds. */
export const isoTime = (sql: ISql, at: Fragment) =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Minor units as an amount with two decimals. Multiplies by 0.01, because a division rounds after 16 digits. */
export const decimalOf = (sql: ISql, minor: Fragment) => sql`(${minor} * 0.01)::text`;

/** Joins conditions with `and`; ignores undefined ones. */
export const allOf = (sql: ISql, conditions: readonly (Fragment | undefined)[]) =>
  conditions
    .filter((condition) => condition !== undefined)
    .reduce((all, condition) => sql`${all} and ${condition}`, sql`true`);

/** Conditions that columns have these values; ignores undefined ones. */
export const equalTo = (sql: ISql, values: Readonly<Record<string, string | undefined>>) =>
  Object.entries(values).map(([column, value]) =>
    value === undefined ? undefined : sql`${sql(column)} = ${value}`,
  );

/** The smallest UUIDv7 of a time (ISO 8601); smaller ids were created earlier. */
const firstIdOf = (at: string): string => Date.parse(at).toString(16).padStart(12, '0').padEnd(32, '0');

/** Conditions of rows whose ids are UUIDv7, by the time in the id. */
export const createdBetween = (
  sql: ISql,
  id: Fragment,
  { from, to }: { from?: string | undefined; to?: string | undefined },
) => [
  from === undefined ? undefined : sql`${id} >= ${firstIdOf(from)}`,
  to === undefined ? undefined : sql`${id} < ${firstIdOf(to)}`,
];

/** JSON for `json_populate_recordset`: rows by column name, with int64 as text. */
export const jsonRows = (table: PgTable, rows: readonly object[]): string => {
  const columns: Record<string, { name: string }> = getTableColumns(table);
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([field, value]: [string, unknown]) => [
          columns[field]?.name ?? field,
          typeof value === 'bigint' ? String(value) : value,
        ]),
      ),
    ),
  );
};
