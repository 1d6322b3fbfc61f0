import type { Queries } from '@platform/service-kit/record';

/** Rows that one transaction deletes. */
const slice = 1000;

/**
 * Deletes up to 1,000 rows that have a value in a column, so that no transaction takes long. Returns whether more may be
 * left. Tables and columns are ours, never input.
 */
export const deleteSlice = async (
  tx: Queries,
  table: string,
  column: string,
  value: string,
): Promise<boolean> => {
  const { count } = await tx`
    delete from ${tx(table)} where ctid = any (array(
      select ctid from ${tx(table)} where ${tx(column)} = ${value} limit ${slice}))`;
  return count === slice;
};
