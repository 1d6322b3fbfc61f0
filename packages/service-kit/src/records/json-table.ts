import postgres, { type PendingQuery, type Row } from 'postgres';
import type { Queries } from './record-spec.ts';

/** A row as JSON text, written by PostgreSQL and sent as it is. */
export interface JsonRow {
  json: string;
}

/** Columns that identify a row, and their values, or SQL of one: `any (array(…))` is one of several. */
type Key = Readonly<Record<string, string | PendingQuery<Row[]>>>;

/** Names of columns, by field, where they differ. */
type Columns = Readonly<Record<string, string>>;

/** SQL of a time as ISO 8601, UTC, milliseconds. `column` is SQL of our own, never from a caller. */
export const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const valueOf = (column: string): string => (column.endsWith('_at') ? isoTime(column) : column);

const matches = (sql: Queries, key: Key): PendingQuery<Row[]> =>
  Object.entries(key)
    .map(([column, value]) => sql`${sql(column)} = ${value}`)
    .reduce((all, condition) => sql`${all} and ${condition}`);

/**
 * Reads and writes the rows of a table as JSON with these fields: the names of columns, in camelCase or as they are, unless
 * `columns` names another one, as it must while a column is renamed (services.yaml, `rehearsal`). What ends in `At` or `_at`
 * is a point in time. Instead of fields it may be the name of a column that stores the JSON (docs/adr/0051). Names come from
 * our own tables and schemas, never from a caller: a column may be SQL that is only read. Values may be pieces of SQL.
 */
export const jsonTable = (table: string, fields: readonly string[] | string, columns: Columns = {}) => {
  const columnOf = (field: string): string => columns[field] ?? postgres.fromCamel(field);
  const write = (names: readonly string[]): string => {
    const selected = names.map((field) => `${valueOf(columnOf(field))} as "${field}"`).join(', ');
    return `(select row_to_json(fields)::text from (select ${selected}) fields)`;
  };
  const json = `${typeof fields === 'string' ? fields : write(fields)} as json`;
  /** Values by their columns, without those that are undefined. */
  const columnsOf = (values: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(values)
        .filter(([, value]) => value !== undefined)
        .map(([field, value]) => [columnOf(field), value]),
    );
  return {
    /** SQL that selects a row as `json`. */
    json,
    /** Undefined if there is no such row. `lock` locks it until the transaction ends. */
    find: async (sql: Queries, key: Key, lock: boolean): Promise<string | undefined> => {
      const [row] = await sql<JsonRow[]>`
        select ${sql.unsafe(json)} from ${sql(table)} where ${matches(sql, key)} ${lock ? sql`for update` : sql``}`;
      return row?.json;
    },
    /** The rows that this SQL behind the name of the table selects, in its order. */
    list: async (sql: Queries, selection: PendingQuery<Row[]>): Promise<string[]> => {
      // In a subquery, so that no row that an OFFSET skips is made into JSON.
      const rows = await sql<JsonRow[]>`
        select ${sql.unsafe(json)} from (select * from ${sql(table)} ${selection}) page`;
      return rows.map((row) => row.json);
    },
    insert: async (sql: Queries, values: object): Promise<string> => {
      const [row] = await sql<[JsonRow]>`
        insert into ${sql(table)} ${sql(columnsOf(values))} returning ${sql.unsafe(json)}`;
      return row.json;
    },
    /** Changes a row that exists. */
    update: async (sql: Queries, key: Key, values: object): Promise<string> => {
      const [row] = await sql<[JsonRow]>`
        update ${sql(table)} set ${sql(columnsOf(values))} where ${matches(sql, key)} returning ${sql.unsafe(json)}`;
      return row.json;
    },
    remove: async (sql: Queries, key: Key): Promise<void> => {
      await sql`delete from ${sql(table)} where ${matches(sql, key)}`;
    },
  };
};
