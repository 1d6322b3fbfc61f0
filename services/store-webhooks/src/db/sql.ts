import type { ISql, PendingQuery, Row } from 'postgres';

/** Takes statements, inside a transaction or outside. */
export type Queries = ISql;

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>;

export const commaSeparated = (sql: Queries, parts: readonly Fragment[]): Fragment =>
  parts.reduce((all, part) => sql`${all}, ${part}`);
