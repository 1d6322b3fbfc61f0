import { readPage, type Directory, type FilterValue } from '@platform/pagination/directory';
import type { IndexedPage } from '@platform/pagination/list';
import type { JsonRow } from '@platform/service-kit/json-table';
import type { ISql, PendingQuery, Row, Sql } from 'postgres';

/** A piece of SQL, created with sql`…`. */
type Fragment = PendingQuery<Row[]>;

/** The table of a list, and how its pages are read. */
export interface List {
  table: string;
  /** SQL that selects a row as `json`. */
  json: string;
  directory: Directory | undefined;
}

/** The records of one page as JSON text, and how many match in the same snapshot. */
export interface JsonPage {
  items: string[];
  total: number;
}

/** Condition on a column: it has this value, one of several, or is an array that contains this element. */
export type ColumnCondition = FilterValue | { oneOf: readonly string[] } | { element: FilterValue };

/** Columns and their conditions; undefined for any value. */
export type Columns = Readonly<Record<string, ColumnCondition | undefined>>;

/** Conditions, all of which a record must meet. */
export interface Conditions {
  columns: Columns;
  /** Text that search_text must contain. */
  text: string | undefined;
}

/** The columns that have a condition. */
const usedColumns = (columns: Columns) =>
  Object.entries(columns).filter((column): column is [string, ColumnCondition] => column[1] !== undefined);

/** The columns that must have one of some values, with these values. */
export const valuesByColumn = (columns: Columns) =>
  usedColumns(columns).flatMap(([column, condition]): [string, readonly FilterValue[]][] => {
    if (typeof condition !== 'object') return [[column, [condition]]];
    return 'oneOf' in condition ? [[column, condition.oneOf]] : [];
  });

/**
 * Condition that `item` contains a text, ignoring case and how accents are composed; `%`, `_` and the backslash are ordinary
 * characters. The pattern needs the collation of the column, otherwise the index could not be used.
 */
export const contains = (sql: ISql, text: string): Fragment => {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql`item.search_text like casefold(normalize(${pattern}::text, nfc) collate "pg_unicode_fast") collate "default"`;
};

const columnCondition = (sql: ISql, name: string, condition: ColumnCondition): Fragment => {
  const column = sql`item.${sql(name)}`;
  if (typeof condition !== 'object') return sql`${column} = ${condition}`;
  return 'oneOf' in condition
    ? sql`${column} = any(${condition.oneOf as string[]}::uuid[])`
    : sql`${condition.element} = any(${column})`;
};

const conditionOf = (sql: ISql, { columns, text }: Conditions): Fragment => {
  const conditions = usedColumns(columns).map(([name, condition]) => columnCondition(sql, name, condition));
  if (text !== undefined) conditions.push(contains(sql, text));
  return conditions.reduce((all, condition) => sql`${all} and ${condition}`, sql`true`);
};

/** Reads a page with the page directory; undefined if there is none or it does not support the conditions. */
export const directoryPage = async (
  sql: Sql,
  { directory, json }: List,
  { columns, text }: Conditions,
  { offset, limit }: IndexedPage,
): Promise<JsonPage | undefined> => {
  const [[column, value] = [], ...others] = usedColumns(columns);
  if (directory === undefined || text !== undefined || others.length > 0 || typeof value === 'object')
    return undefined;
  const filter = column !== undefined && value !== undefined ? { column, value } : undefined;
  if (filter && !directory.filters.some(({ column }) => column === filter.column)) return undefined;
  const request = { columns: json, ...(filter && { filter }), offset, limit };
  const { items, total } = await readPage<JsonRow>(sql, directory, request);
  return { items: items.map((item) => item.json), total };
};

/**
 * If an index finds the matches (`isIndexed`), they are collected once, counted and sorted. Otherwise all rows are compared
 * with the conditions to count the matches, and the rows up to the end of the page are compared again in the order of the
 * list; this takes less time than sorting a million matches.
 */
const countAndPage = (
  sql: ISql,
  table: string,
  conditions: Conditions,
  { offset, limit }: IndexedPage,
  isIndexed: boolean,
): Fragment => {
  const where = conditionOf(sql, conditions);
  const list = sql(table);
  const page = sql`order by created_at desc, id desc offset ${String(offset)} limit ${limit}`;
  return isIndexed
    ? sql`
      matches as materialized (select id, created_at from ${list} item where ${where}),
      counted as (select count(*) as total from matches),
      page as (select id from matches ${page})`
    : sql`
      counted as materialized (select count(*) as total from ${list} item where ${where}),
      page as (
        select id from ${list} item
        where ${where} and (select total from counted) > ${String(offset)}::bigint ${page}
      )`;
};

/** One page, newest first. Counts all matching rows, in the same statement and so in the same snapshot. */
export const countedPage = async (
  sql: ISql,
  { table, json }: List,
  conditions: Conditions,
  indexedPage: IndexedPage,
  isIndexed: boolean,
): Promise<JsonPage> => {
  const rows = await sql<(JsonRow & { total: string; hasItem: boolean })[]>`
    with ${countAndPage(sql, table, conditions, indexedPage, isIndexed)}
    select total, item.id is not null as "hasItem", ${sql.unsafe(json)}
    from counted left join page on true left join ${sql(table)} item using (id)
    order by item.created_at desc, item.id desc`;
  const items = rows.filter(({ hasItem }) => hasItem).map((row) => row.json);
  return { items, total: Number(rows[0]?.total) };
};
