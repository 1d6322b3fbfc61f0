import type { Context } from '../context.ts';
import { safeError, safeErrorMessage } from '@platform/service-kit/safe-error';
import { attemptsWithin, backoff } from './backoff.ts';
import { createFairClaim, type Leased, type WorkTable } from './fair-claim.ts';
import { finalState, Stopped } from '../errors.ts';

interface LeasedWork extends WorkTable {
  /** Rows in work at most: of all stores, and of one. */
  limits: readonly [all: number, ofStore: number];
  /** Names the work for the error tracker. */
  event: string;
  /**
   * Does the work. Resolves with a function that records the result, if that is not done yet: it is called again until
   * the database takes it. Rejects when the work is to be tried again.
   */
  perform(row: Leased): Promise<(() => PromiseLike<unknown>) | void>;
}

export interface Leases {
  /** Begins with a row that is due; returns whether there was one and room for it. */
  round(): Promise<boolean>;
  /** Records results that the database did not take before; call it several times in LEASE_MS. */
  beat(): Promise<void>;
  /** Resolves when no row is in work. */
  idle(): Promise<void>;
}

/**
 * Does the work of rows that are due, some at a time and one store after the other. A claim lasts for as long as `worker`
 * reports that it is alive (see heartbeat.ts), so work may take any time. Failed attempts are repeated with a growing delay
 * for RETRY_FOR_HOURS. `onRoom` is called whenever another row can begin.
 */
export const createLeasedWork = (
  { database, env, tracker, log }: Context,
  worker: string,
  { limits, event, perform, ...work }: LeasedWork,
  onRoom: () => void,
): Leases => {
  const { sql } = database;
  const { table, key, state } = work;
  const maxAttempts = attemptsWithin(env.RETRY_FOR_HOURS, env.RETRY_BASE_MS);
  const underWay = new Map<Promise<void>, string>();
  let unrecorded: (() => PromiseLike<unknown>)[] = [];
  const claim = createFairClaim(sql, worker, work);

  const busyStores = (): string[] => {
    const stores = Map.groupBy(underWay.values(), (storeId) => storeId);
    return [...stores].filter(([, rows]) => rows.length >= limits[1]).map(([storeId]) => storeId);
  };

  const failed = (row: Leased, error: unknown) => {
    const { storeId, attempts } = row;
    // An attempt that this process itself has interrupted does not count.
    const isStopped = error instanceof Stopped;
    const isLast = attempts >= maxAttempts || finalState(error) === 'failed';
    if (!isStopped) tracker.capture(error, { storeId, event, attempt: attempts });
    return sql`
      update ${sql(table)} set worker = null, ${sql(state)} = ${isLast && !isStopped ? 'failed' : 'pending'},
        error = ${safeErrorMessage(error)}, attempts = attempts - ${isStopped ? 1 : 0},
        due_at = now() + ${isStopped ? 0 : backoff(attempts, env.RETRY_BASE_MS)} * interval '1 ms'
      where store_id = ${storeId} and ${sql(key)} = ${row.key} and worker = ${worker} and attempts = ${attempts}`;
  };

  const record = async (write: () => PromiseLike<unknown>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      log.warn({ err: safeError(error), event }, 'the result of background work could not be written');
      unrecorded.push(write);
    }
  };

  const run = async (row: Leased): Promise<void> => {
    const write = await perform(row).catch((error: unknown) => () => failed(row, error));
    if (write !== undefined) await record(write);
  };

  return {
    round: async () => {
      if (underWay.size >= limits[0]) return false;
      const row = await claim(busyStores());
      if (row === undefined) return false;
      const task = run(row).finally(() => {
        underWay.delete(task);
        onRoom();
      });
      underWay.set(task, row.storeId);
      return true;
    },
    beat: async () => {
      const again = unrecorded;
      unrecorded = [];
      for (const write of again) await record(write);
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.allSettled(underWay.keys());
    },
  };
};
