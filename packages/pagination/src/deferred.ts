import type { PendingQuery, Row, Sql } from 'postgres';

/** A piece of SQL made with sql`…`. */
type Fragment = PendingQuery<Row[]>;

export interface DeferredPage {
  table: string;
  /** The primary key, its leading tenant or owner included. */
  key: readonly string[];
  /** What is given of each row; every column unless said otherwise. */
  columns?: readonly string[];
  /** A condition on bare column names, which a covering index answers. */
  where: Fragment;
  /** A total order by bare column names: the last one makes it unique. */
  order: Fragment;
  offset: bigint;
  limit: number;
}

/**
 * The rows of one page. The rows before it are passed over in the index alone, where
 * `where`, `order` and `key` are covered by one; only the page itself is fetched from the table.
 */
export const deferredPage = <T extends object>(
  sql: Sql,
  { table, key, columns, where, order, offset, limit }: DeferredPage,
) => sql<T[]>`
  with page as materialized (
    select ${sql(key)} from ${sql(table)} where ${where} order by ${order} offset ${String(offset)} limit ${limit})
  select ${columns ? sql(columns) : sql`${sql(table)}.*`} from page join ${sql(table)} using (${sql(key)}) order by ${order}`;
