import { getTableColumns } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { ISql, PendingQuery, Row } from 'postgres';

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>;

/** The first row of a statement; undefined when there is none, unless its type says that there is always one. */
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

/** Minor units as an amount with two decimals. Multiplies by 0.01, which is exact: a division rounds numbers of more than 16 digits. */
export const decimalOf = (sql: ISql, minor: Fragment) => sql`(${minor} * 0.01)::text`;

/** SQL that holds where all of the conditions hold; undefined ones do not count. */
export const allOf = (sql: ISql, conditions: readonly (Fragment | undefined)[]) =>
  conditions
    .filter((condition) => condition !== undefined)
    .reduce((all, condition) => sql`${all} and ${condition}`, sql`true`);

/** Conditions that columns have these values; undefined ones do not count. */
export const equalTo = (sql: ISql, values: Readonly<Record<string, string | undefined>>) =>
  Object.entries(values).map(([column, value]) =>
    value === undefined ? undefined : sql`${sql(column)} = ${value}`,
  );

/** The smallest UUIDv7 of an instant (ISO 8601); smaller ids were created earlier. */
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

/** Rows for `json_populate_recordset`: with the names of the columns, and int64 as text. */
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
