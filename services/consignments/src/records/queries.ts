import { Conflict } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';

/** A table and its columns that may refer to a record of another table. */
export type Reference = readonly [table: string, ...columns: string[]];

/** Throws Conflict `in_use` for a record to which another record, or the details of a consignment, refer. */
export const refuseUsed = async (
  sql: Queries,
  references: readonly Reference[],
  id: string,
): Promise<void> => {
  for (const [table, ...columns] of references)
    for (const column of columns) {
      const used = await sql`select from ${sql(table)} where ${sql(column)} = ${id} limit 1`;
      if (used.length > 0) throw new Conflict('in_use', `A record of ${table} refers to it.`);
    }
  // Materialized, because a plan for the first match reads the whole table when there is none.
  const named = await sql`
    with named as materialized (select id from consignment_details where named_ids @> array[${id}::uuid])
    select from named limit 1`;
  if (named.length > 0) throw new Conflict('in_use', 'A consignment refers to it.');
};
