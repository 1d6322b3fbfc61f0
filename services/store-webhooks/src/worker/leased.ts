import type { Context } from '../context.ts';
import { safeErrorMessage } from '../tracker/failure.ts';
import { attemptsWithin, backoff } from './backoff.ts';

/** A row that is work to be done, claimed by this process. */
export interface Leased {
  storeId: string;
  /** Its key within the store. */
  key: string;
  /** Number of claims including this one. */
  attempts: number;
}

interface LeasedWork {
  table: string;
  /** The column that identifies a row of a store. */
  key: string;
  /** The column that is `pending` until the work is done, and `failed` after the last attempt. */
  state: string;
  /** Longer than an attempt takes; a row of a crashed process waits until its lease ends. */
  leaseMs: number;
  /** Names the work for the error tracker. */
  event: string;
  /** Does the work and sets the final state. Rejects when it is to be tried again. */
  perform(row: Leased): Promise<void>;
}

/**
 * Makes a function that does the work of one row that is due, and returns whether there was one. Failed attempts are
 * repeated with a growing delay for RETRY_FOR_HOURS.
 */
export const createLeasedWork = (
  { database, env, tracker }: Context,
  { table, key, state, leaseMs, event, perform }: LeasedWork,
): (() => Promise<boolean>) => {
  const { sql } = database;
  const maxAttempts = attemptsWithin(env.RETRY_FOR_HOURS, env.RETRY_BASE_MS);
  return async () => {
    const [row] = await sql<Leased[]>`
      update ${sql(table)} set attempts = attempts + 1, due_at = now() + ${leaseMs} * interval '1 ms'
      where (store_id, ${sql(key)}) in (
        select store_id, ${sql(key)} from ${sql(table)} where ${sql(state)} = 'pending' and due_at <= now()
        order by due_at limit 1 for update skip locked)
      returning store_id as "storeId", ${sql(key)} as key, attempts`;
    if (row === undefined) return false;
    try {
      await perform(row);
    } catch (error) {
      const { storeId, attempts } = row;
      tracker.capture(error, { storeId, event, attempt: attempts });
      await sql`
        update ${sql(table)} set ${sql(state)} = ${attempts < maxAttempts ? 'pending' : 'failed'},
          error = ${safeErrorMessage(error)},
          due_at = now() + ${backoff(attempts, env.RETRY_BASE_MS)} * interval '1 ms'
        where store_id = ${storeId} and ${sql(key)} = ${row.key}`;
    }
    return true;
  };
};
