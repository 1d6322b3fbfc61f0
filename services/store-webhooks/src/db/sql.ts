import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import type { ISql, PendingQuery, Row as AnyRow } from 'postgres';

/** A piece of a statement. */
export type Fragment = PendingQuery<AnyRow[]>;

/** The value of a column after an update, as an SQL expression of the stored and the new value. */
export type Merge = (storedValue: string, newValue: string) => string;

type Rows<Row> = readonly { [Field in keyof Row]?: Row[Field] | undefined }[];

interface Update<Row> {
  /** How to merge a field; all other fields take the new value. */
  merged?: { [Field in keyof Row]?: Merge };
  /** The stored row (`t`) changes only if this condition on it and the new row (`excluded`) is true. */
  where?: string;
}

/**
 * Creates the `insert … on conflict do update` of a table. It sends all rows as one JSON document; the caller appends
 * `returning`. The statement is built once, from the declared columns only.
 */
export const createUpsert = <Row extends object>(
  table: PgTable & { $inferSelect: Row },
  { merged = {}, where = 'true' }: Update<Row> = {},
): ((sql: ISql, rows: Rows<Row>) => Fragment) => {
  const columns = Object.entries(getTableColumns(table)).map(([field, { name }]) => ({ field, name }));
  const { name: tableName, primaryKeys } = getTableConfig(table);
  const key = primaryKeys.flatMap((primaryKey) => primaryKey.columns.map(({ name }) => name));
  const assignments = columns.flatMap(({ field, name }) => {
    const merge: Merge = merged[field as keyof Row] ?? ((_storedValue, newValue) => newValue);
    return key.includes(name) ? [] : [`${name} = ${merge(`t.${name}`, `excluded.${name}`)}`];
  });
  const insert = `insert into ${tableName} as t select * from jsonb_populate_recordset(null::${tableName}, `;
  const update = `on conflict (${key.join(', ')}) do update set ${assignments.join(', ')} where ${where}`;
  return (sql, rows) => {
    const documents = rows.map((row) =>
      Object.fromEntries(columns.map(({ field, name }) => [name, row[field as keyof Row]])),
    );
    return sql`${sql.unsafe(insert)} ${JSON.stringify(documents)}::jsonb) ${sql.unsafe(update)}`;
  };
};

/**
 * SQL condition: the new row may replace the stored one. Compares the provider's versions if both rows have one and they
 * differ, otherwise the order of receipt. An event may replace itself, which changes nothing.
 */
export const isNewer = `
  case when excluded.version <> t.version then excluded.version > t.version
    else excluded.event_id >= t.event_id end`;

/** The new value, or the stored one if the provider sent none. */
export const newOrStored: Merge = (storedValue, newValue) => `coalesce(${newValue}, ${storedValue})`;

const quotedCharacters = /[\\"]/g;

/**
 * An array as PostgreSQL reads it from text (manual, 8.15.2), for `${arrayOf(ids)}::text::uuid[]`. The driver would
 * escape each element on its own, which takes several times as long.
 */
export const arrayOf = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'null' : `"${value.replace(quotedCharacters, '\\$&')}"`)).join(',')}}`;

/** As `arrayOf`, for values that need no quotes, such as UUIDs and numbers. */
export const plainArrayOf = (values: readonly (string | number | null)[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`;
