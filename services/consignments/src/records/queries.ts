import { Conflict } from '@platform/service-kit/problem';
import type { Queries, Stored } from '@platform/service-kit/record';
import postgres, { type PendingQuery, type Row } from 'postgres';
import { v7 } from 'uuid';
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

export const written = (sql: Queries, kind: Kind, row = 'item'): Fragment => sql.unsafe(jsonOf(kind, row));

const columnsOf = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([field, value]) => [postgres.fromCamel(field), value]));

/** createdAt and updatedAt are the time of the database, as instances' clocks may differ. */
export const insertRecord = async (sql: Queries, kind: Kind, input: object): Promise<Stored> => {
  const id = v7();
  const [row] = await sql<[Written]>`
    insert into ${sql(kind.table)} ${sql(columnsOf({ id, ...input }))} returning ${written(sql, kind, kind.table)}`;
  return { id, json: row.json };
};

/** Undefined if the record does not exist. With a lock nobody else changes it until the transaction ends. */
export const findRecord = async (
  sql: Queries,
  kind: Kind,
  id: string,
  lock: boolean,
): Promise<string | undefined> => {
  const [row] = await sql<Written[]>`
    select ${written(sql, kind)} from ${sql(kind.table)} item where id = ${id}
    ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** The record after the change. */
export const updateRecord = async (sql: Queries, kind: Kind, id: string, patch: object): Promise<string> => {
  const [row] = await sql<[Written]>`
    update ${sql(kind.table)} set ${sql(columnsOf(patch))}, updated_at = now() where id = ${id}
    returning ${written(sql, kind, kind.table)}`;
  return row.json;
};

/** Throws Conflict `in_use` for a record that another one names. */
export const deleteRecord = async (sql: Queries, { table, usedBy = [] }: Kind, id: string): Promise<void> => {
  for (const [other, ...columns] of usedBy)
    for (const column of columns) {
      const used = await sql`select from ${sql(other)} where ${sql(column)} = ${id} limit 1`;
      if (used.length > 0) throw new Conflict('in_use', `A record of ${other} names it.`);
    }
  await sql`delete from ${sql(table)} where id = ${id}`;
};
