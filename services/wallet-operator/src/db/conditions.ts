import type { ISql, PendingQuery, Row } from 'postgres';

/** SQL that holds where all of the conditions hold; undefined ones do not count. */
export const allOf = (sql: ISql, conditions: readonly (PendingQuery<Row[]> | undefined)[]) =>
  conditions.filter((next) => next !== undefined).reduce((all, next) => sql`${all} and ${next}`, sql`true`);

/** Conditions that columns have these values; undefined ones do not count. */
export const equalTo = (sql: ISql, values: Readonly<Record<string, string | undefined>>) =>
  Object.entries(values).map(([column, value]) =>
    value === undefined ? undefined : sql`${sql(column)} = ${value}`,
  );

/** The smallest UUIDv7 of an instant (ISO 8601); smaller ids were created earlier. */
export const firstIdOf = (at: string): string =>
  Date.parse(at).toString(16).padStart(12, '0').padEnd(32, '0');

/** Conditions of rows whose ids are UUIDv7, by the time in the id. */
export const createdBetween = (
  sql: ISql,
  id: PendingQuery<Row[]>,
  { from, to }: { from?: string | undefined; to?: string | undefined },
) => [
  from === undefined ? undefined : sql`${id} >= ${firstIdOf(from)}`,
  to === undefined ? undefined : sql`${id} < ${firstIdOf(to)}`,
];
