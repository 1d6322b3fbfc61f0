import type { Queries } from '@platform/service-kit/record';

/** Maximum number of rows that one transaction deletes. */
const sliceSize = 1000;

/**
 * Deletes up to 1,000 rows whose column has this value, so that no transaction takes long. Returns whether more may be left.
 * `table` and `column` must not come from a request.
 */
export const deleteSome = async (
  tx: Queries,
  table: string,
  column: string,
  value: string,
): Promise<boolean> => {
  const { count } = await tx`
    delete from ${tx(table)} where ctid = any (array(
      select ctid from ${tx(table)} where ${tx(column)} = ${value} limit ${sliceSize}))`;
  return count === sliceSize;
};
