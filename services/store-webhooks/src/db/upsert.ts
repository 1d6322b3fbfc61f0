import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import type { ISql } from 'postgres';
import { commaSeparated, type Fragment } from './sql.ts';

/** The value of a column after an update, of the stored and the new value. */
export type Merge = (stored: Fragment, given: Fragment) => Fragment;

type Rows<Row> = readonly { [Field in keyof Row]?: Row[Field] | undefined }[];

/**
 * Makes the `insert … on conflict do update` of a table. It sends the rows as one JSON document. Where a row with the
 * same primary key is stored (`t`), that takes all values of the new row (`excluded`), except for those that `merged`
 * determines, by field. To be continued with `where` and `returning`.
 */
export const createUpsert = <Row extends object>(table: PgTable & { $inferSelect: Row }) => {
  const columns = Object.entries(getTableColumns(table)).map(([field, { name }]) => ({ field, name }));
  const { name: tableName, primaryKeys } = getTableConfig(table);
  const key = primaryKeys.flatMap((one) => one.columns.map(({ name }) => name));
  const values = columns.filter(({ name }) => !key.includes(name));
  return (sql: ISql, rows: Rows<Row>, merged: { [Field in keyof Row]?: Merge } = {}): Fragment => {
    const documents = rows.map((row) =>
      Object.fromEntries(columns.map(({ field, name }) => [name, row[field as keyof Row]])),
    );
    const assignments = values.map(({ field, name }) => {
      const [stored, given] = [sql`${sql(`t.${name}`)}`, sql`${sql(`excluded.${name}`)}`];
      const merge: Merge | undefined = merged[field as keyof Row];
      return sql`${sql(name)} = ${merge === undefined ? given : merge(stored, given)}`;
    });
    return sql`
      insert into ${sql(tableName)} as t
      select * from jsonb_populate_recordset(null::${sql(tableName)}, ${JSON.stringify(documents)}::jsonb)
      on conflict (${sql(key)}) do update set ${commaSeparated(sql, assignments)}`;
  };
};

/**
 * Whether the new row may replace the stored one: compares the provider's versions if both rows have one and they
 * differ, otherwise the order of receipt. The same event may replace itself, which changes nothing.
 */
export const isNewer = (sql: ISql): Fragment => sql`
  case when excluded.version <> t.version then excluded.version > t.version
    else excluded.event_id >= t.event_id end`;

/** The new value; the stored one if the provider sent none. */
export const newValue =
  (sql: ISql): Merge =>
  (stored, given) =>
    sql`coalesce(${given}, ${stored})`;
