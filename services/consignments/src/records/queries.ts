import type { Database } from '@platform/service-kit/db';
import postgres, { type PendingQuery, type Row, type Sql } from 'postgres';
import type { Kind } from './kind.ts';

/** A piece of SQL made with sql`…`. */
export type Fragment = PendingQuery<Row[]>;

/** A row as JSON text, written by PostgreSQL and sent as it is. */
export interface Written {
  json: string;
}

const valueOf = (row: string, field: string): string => {
  const column = `${row}.${postgres.fromCamel(field)}`;
  return field.endsWith('At')
    ? `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    : column;
};

/** SQL that selects a row as `json`. The names come from our own tables and schemas, never from a caller. */
export const jsonOf = ({ fields }: Kind, row: string): string =>
  `json_build_object(${fields.map((field) => `'${field}', ${valueOf(row, field)}`).join(', ')})::text as json`;

export const written = (sql: Sql, kind: Kind, row = 'item'): Fragment => sql.unsafe(jsonOf(kind, row));

const columnsOf = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([field, value]) => [postgres.fromCamel(field), value]));

/** createdAt and updatedAt are the time of the database, as instances' clocks may differ. */
export const insertRecord = async ({ sql }: Database, kind: Kind, values: object): Promise<string> => {
  const [row] = await sql<[Written]>`
    insert into ${sql(kind.table)} ${sql(columnsOf(values))} returning ${written(sql, kind, kind.table)}`;
  return row.json;
};

/** Undefined if the record does not exist. */
export const findRecord = async ({ sql }: Database, kind: Kind, id: string): Promise<string | undefined> => {
  const [row] = await sql<Written[]>`
    select ${written(sql, kind)} from ${sql(kind.table)} item where id = ${id}`;
  return row?.json;
};

export const updateRecord = async (
  { sql }: Database,
  kind: Kind,
  id: string,
  values: object,
): Promise<string | undefined> => {
  const [row] = await sql<Written[]>`
    update ${sql(kind.table)} set ${sql(columnsOf(values))}, updated_at = now() where id = ${id}
    returning ${written(sql, kind, kind.table)}`;
  return row?.json;
};
