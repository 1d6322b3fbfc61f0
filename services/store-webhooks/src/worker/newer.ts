import type { Queries } from '../db/sql.ts';

/**
 * Whether what comes (`excluded`) may replace what is there: by the provider's version where both
 * have one, else by the order of receipt. The same event again may, and changes nothing.
 */
export const isNewer = (sql: Queries, table: string) => {
  const there = sql(table);
  return sql`
    case when excluded.version <> ${there}.version then excluded.version > ${there}.version
      else excluded.event_id >= ${there}.event_id end`;
};
