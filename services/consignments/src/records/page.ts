import type { IndexedPage } from '@platform/pagination/list';
import type { Sql } from 'postgres';
import type { Kind } from './kind.ts';
import { written, type Fragment, type Written } from './queries.ts';

/** The records of one page as JSON text, and how many match in the same snapshot. */
export interface WrittenPage {
  items: string[];
  total: number;
}

/** Conditions that a record must all meet. */
export interface Filters {
  /** Columns and the values they must have; undefined for any value. */
  columns: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Text that search_text must contain. */
  text: string | undefined;
}

/**
 * Condition that `item` contains a text, ignoring case and how accents are composed; `%`, `_` and the backslash are ordinary characters. The
 * pattern has the collation of the column, without which the index could not be used.
 */
export const contains = (sql: Sql, text: string): Fragment => {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql`item.search_text like casefold(normalize(${pattern}::text, nfc) collate "pg_unicode_fast") collate "default"`;
};

export const conditionOf = (sql: Sql, { columns, text }: Filters): Fragment => {
  const conditions = Object.entries(columns).flatMap(([column, value]) =>
    value === undefined ? [] : sql`item.${sql(column)} = ${value}`,
  );
  if (text !== undefined) conditions.push(contains(sql, text));
  return conditions.reduce((all, one) => sql`${all} and ${one}`, sql`true`);
};

/**
 * Matches that an index finds (`isIndexed`) are collected once, to count and to sort them. Other conditions are compared
 * with all rows to count, and again in the order of the list up to the end of the page; that takes less time than to
 * sort a million matches.
 */
const countAndPage = (
  sql: Sql,
  table: string,
  filters: Filters,
  { offset, limit }: IndexedPage,
  isIndexed: boolean,
): Fragment => {
  const where = conditionOf(sql, filters);
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
  sql: Sql,
  kind: Kind,
  filters: Filters,
  indexedPage: IndexedPage,
  isIndexed: boolean,
): Promise<WrittenPage> => {
  const rows = await sql<(Written & { total: string; found: boolean })[]>`
    with ${countAndPage(sql, kind.table, filters, indexedPage, isIndexed)}
    select total, item.id is not null as found, ${written(sql, kind)}
    from counted left join page on true left join ${sql(kind.table)} item using (id)
    order by item.created_at desc, item.id desc`;
  const items = rows.filter(({ found }) => found).map(({ json }) => json);
  return { items, total: Number(rows[0]?.total) };
};
