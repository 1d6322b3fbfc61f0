import type { ISql } from 'postgres';

/**
 * Whether the new row (`excluded`) may replace the stored one: compares the provider's versions if both
 * rows have one and they differ, otherwise the order of receipt. The same event may replace itself, which
 * changes nothing.
 */
export const isNewer = (sql: ISql, table: string) => {
  const there = sql(table);
  return sql`
    case when excluded.version <> ${there}.version then excluded.version > ${there}.version
      else excluded.event_id >= ${there}.event_id end`;
};
