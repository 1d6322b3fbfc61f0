import type { Caller } from '@platform/auth/bearer';
import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import type { TransactionSql } from 'postgres';
import type { z } from 'zod';

/** Statements on the rows of a record; they return the record as JSON text. */
export interface Rows<Input, Patch> {
  /** `lock` locks the record until the transaction ends. */
  find(sql: Queries, id: string, lock: boolean): Promise<string | undefined>;
  insert(sql: Queries, id: string, input: Input, caller: Caller): Promise<string>;
  /** Changes a record that was found as `current` and locked. */
  update(tx: TransactionSql, id: string, patch: Patch, current: string, caller: Caller): Promise<string>;
  /** Deletes a record that was found and locked. */
  remove(tx: TransactionSql, id: string, caller: Caller): Promise<void>;
}

/** The table of a list, with the columns of a schema. */
export const tableOf = (list: string, schema: z.ZodObject) => jsonTable(list, Object.keys(schema.shape));

/** The `Rows` of a record that is one row of the table of its list. */
export const tableRows = (list: string, schema: z.ZodObject) => {
  const table = tableOf(list, schema);
  return {
    find: (sql: Queries, id: string, lock: boolean) => table.find(sql, { id }, lock),
    insert: (sql: Queries, id: string, values: object) => table.insert(sql, { id, ...values }),
    // The database's time, because the clocks of instances may differ.
    update: (tx: TransactionSql, id: string, values: object) =>
      table.update(tx, { id }, { ...values, updatedAt: tx`now()` }),
    remove: (tx: TransactionSql, id: string) => table.remove(tx, { id }),
  };
};
