import type { ISql, PendingQuery, Row } from 'postgres';

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>;

export const commaSeparated = (sql: ISql, parts: readonly Fragment[]): Fragment =>
  parts.reduce((all, part) => sql`${all}, ${part}`);
