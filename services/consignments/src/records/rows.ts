import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import type { z } from 'zod';

/** How the rows of a record are stored; all give the record as JSON text. */
export interface Rows<Input, Patch> {
  /** `lock` locks the record until the transaction ends. */
  find(sql: Queries, id: string, lock: boolean): Promise<string | undefined>;
  insert(sql: Queries, id: string, input: Input): Promise<string>;
  /** Changes a record that was found as `current` and locked. */
  update(sql: Queries, id: string, patch: Patch, current: string): Promise<string>;
}

/** The table of a list, with the columns of a schema. */
export const tableOf = (list: string, schema: z.ZodObject) => jsonTable(list, Object.keys(schema.shape));

/** A record that is one row of the table of its list. */
export const tableRows = (list: string, schema: z.ZodObject): Rows<object, object> => {
  const table = tableOf(list, schema);
  return {
    find: (sql, id, lock) => table.find(sql, { id }, lock),
    insert: (sql, id, values) => table.insert(sql, { id, ...values }),
    // The time of the database, as instances' clocks may differ.
    update: (sql, id, values) => table.update(sql, { id }, { ...values, updatedAt: sql`now()` }),
  };
};
