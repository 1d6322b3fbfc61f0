import postgres, { type PendingQuery, type Row } from 'postgres';
import type { Queries } from './record-spec.ts';

/** A row as JSON text, written by PostgreSQL and sent unchanged. */
export interface JsonRow {
  json: string;
}

/** The columns that identify a row → their values, or SQL of a value: `any (array(…))` matches any of several. */
type Key = Readonly<Record<string, string | PendingQuery<Row[]>>>;

/** Field → column, for columns whose name does not follow from the field. */
type Columns = Readonly<Record<string, string>>;

/** SQL that formats a time as ISO 8601, UTC, milliseconds. `column` is our own SQL, never from a caller. */
export const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const valueOf = (column: string): string => (column.endsWith('_at') ? isoTime(column) : column);

const matches = (sql: Queries, key: Key): PendingQuery<Row[]> =>
  Object.entries(key)
    .map(([column, value]) => sql`${sql(column)} = ${value}`)
    .reduce((conditions, condition) => sql`${conditions} and ${condition}`);

/**
 * Creates functions that read and write the rows of a table as JSON. `fields` are the column names, as they are or in camelCase,
 * or the name of a column that stores the JSON (docs/adr/0051). `columns` maps a field to another column, for example while a
 * column is renamed (services.yaml, `rehearsal`), or to SQL that is only read. Columns that end in `_at` are points in time.
 * All names come from our own tables and schemas, never from a caller. Values may be SQL fragments.
 */
export const jsonTable = (table: string, fields: readonly string[] | string, columns: Columns = {}) => {
  const columnOf = (field: string): string => columns[field] ?? postgres.fromCamel(field);
  const rowToJson = (names: readonly string[]): string => {
    const selected = names.map((field) => `${valueOf(columnOf(field))} as "${field}"`).join(', ');
    return `(select row_to_json(fields)::text from (select ${selected}) fields)`;
  };
  const json = `${typeof fields === 'string' ? fields : rowToJson(fields)} as json`;
  /** Column → value, without undefined values. */
  const columnsOf = (values: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(values)
        .filter(([, value]) => value !== undefined)
        .map(([field, value]) => [columnOf(field), value]),
    );
  return {
    /** SQL that selects a row as `json`. */
    json,
    /** Returns undefined if there is no such row. `lock` locks it until the transaction ends. */
    find: async (sql: Queries, key: Key, lock: boolean): Promise<string | undefined> => {
      const [row] = await sql<JsonRow[]>`
        select ${sql.unsafe(json)} from ${sql(table)} where ${matches(sql, key)} ${lock ? sql`for update` : sql``}`;
      return row?.json;
    },
    /** Returns the rows that `selection` selects: the SQL after the table name (where, order by, limit). */
    list: async (sql: Queries, selection: PendingQuery<Row[]>): Promise<string[]> => {
      // In a subquery, so that rows skipped by OFFSET are not converted to JSON.
      const rows = await sql<JsonRow[]>`
        select ${sql.unsafe(json)} from (select * from ${sql(table)} ${selection}) page`;
      return rows.map((row) => row.json);
    },
    insert: async (sql: Queries, values: object): Promise<string> => {
      const [row] = await sql<[JsonRow]>`
        insert into ${sql(table)} ${sql(columnsOf(values))} returning ${sql.unsafe(json)}`;
      return row.json;
    },
    /** Updates an existing row. */
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
