import type { Sql } from 'postgres';
import { attemptsWithin, backoff } from './backoff.ts';
import type { Log } from '../process/log.ts';
import { safeErrorMessage } from '../process/safe-error.ts';

/**
 * A table of work with the columns `worker`, `attempts`, `due_at` and `error`. It needs an index on the owner and `due_at` of
 * rows whose state is `pending`. The fields are column names.
 */
export interface WorkTable {
  table: string;
  /** The owner (a UUID). `owner` and `key` identify a row. */
  owner: string;
  key: string;
  /** `pending` until the work is done, `failed` after the last attempt. */
  state: string;
}

/** A row of work that this worker has claimed. */
export interface LeasedRow {
  owner: string;
  key: string;
  /** Number of claims including this one. Together with the worker it identifies this claim. */
  attempts: number;
}

export interface LeaseOptions {
  sql: Sql;
  log: Log;
  /** Id of this worker. The caller writes its heartbeat, and sets `worker = null` in the rows of dead workers. */
  worker: string;
  /** How long failed work is retried, and the base of the backoff. */
  retry: { hours: number; baseMs: number };
  /** Called for each failure. `interrupted` does not count as an attempt; `final` is not retried. */
  onFailure(error: unknown, row: LeasedRow): 'retry' | 'interrupted' | 'final';
  /** Called whenever another row can be started. */
  onRoom(): void;
}

interface LeasedWork extends LeaseOptions, WorkTable {
  /** Maximum number of rows in work: of all owners, and of one owner. */
  limits: readonly [total: number, perOwner: number];
  /**
   * Does the work. May resolve with a function that records the result; it is called until it succeeds. Rejects if the work must
   * be retried.
   */
  perform(row: LeasedRow): Promise<(() => PromiseLike<unknown>) | void>;
}

export type Leases = ReturnType<typeof createLeasedWork>;

/** Sorts before all owner ids. */
const beforeAllOwners = '00000000-0000-0000-0000-000000000000';

/**
 * Creates a function that claims the oldest due row of the next owner; undefined if there is none. Owners take turns, so that
 * one with many rows delays no other. It skips the owners in `busy`.
 */
const createFairClaim = ({ sql, worker, table, owner, key, state }: LeasedWork) => {
  const isDue = () => sql`${sql(state)} = 'pending' and worker is null and due_at <= now()`;
  /** The owner that had the last turn. */
  let lastOwner = beforeAllOwners;
  /** `busy` is a PostgreSQL array literal. */
  const claimAfterLastOwner = async (busy: string): Promise<LeasedRow | undefined> => {
    const [row] = await sql<LeasedRow[]>`
      with recursive turn as (
        (select ${sql(owner)} as owner from ${sql(table)} where ${isDue()} and ${sql(owner)} > ${lastOwner}
         order by ${sql(owner)} limit 1)
        union all
        select next.owner from turn cross join lateral (
          select ${sql(owner)} as owner from ${sql(table)} where ${isDue()} and ${sql(owner)} > turn.owner
          order by ${sql(owner)} limit 1
        ) as next
        where turn.owner = any(${busy}::uuid[])),
      claimed as materialized (
        select ${sql(owner)}, ${sql(key)} from ${sql(table)}
        where ${isDue()} and ${sql(owner)} = (select owner from turn where owner <> all(${busy}::uuid[]))
        order by due_at limit 1 for update skip locked)
      update ${sql(table)} set attempts = attempts + 1, worker = ${worker}
      where (${sql(owner)}, ${sql(key)}) in (select * from claimed)
      returning ${sql(owner)} as owner, ${sql(key)} as key, attempts`;
    lastOwner = row?.owner ?? beforeAllOwners;
    return row;
  };
  return async (busy: readonly string[]): Promise<LeasedRow | undefined> => {
    const isFullRound = lastOwner === beforeAllOwners;
    const owners = `{${busy.join(',')}}`;
    return (await claimAfterLastOwner(owners)) ?? (isFullRound ? undefined : claimAfterLastOwner(owners));
  };
};

/**
 * Does the work of due rows, several at a time; owners take turns. A claim lasts as long as `worker` is alive, so work may take
 * any time. Failed attempts are retried with backoff.
 */
export const createLeasedWork = (options: LeasedWork) => {
  const { sql, log, worker, table, owner, key, state, limits, retry, perform, onFailure, onRoom } = options;
  const maxAttempts = attemptsWithin(retry.hours, retry.baseMs);
  /** Running work and its owner. */
  const running = new Map<Promise<void>, string>();
  let unrecorded: (() => PromiseLike<unknown>)[] = [];
  const claim = createFairClaim(options);

  const busyOwners = (): string[] => {
    const owners = Map.groupBy(running.values(), (id) => id);
    return [...owners].filter(([, rows]) => rows.length >= limits[1]).map(([id]) => id);
  };

  /** Returns a function that records a failed attempt. */
  const recordFailure = (row: LeasedRow, error: unknown) => {
    const { attempts } = row;
    const verdict = onFailure(error, row);
    const isInterrupted = verdict === 'interrupted';
    const isLast = !isInterrupted && (attempts >= maxAttempts || verdict === 'final');
    return () => sql`
      update ${sql(table)} set worker = null, ${sql(state)} = ${isLast ? 'failed' : 'pending'},
        error = ${safeErrorMessage(error)}, attempts = attempts - ${isInterrupted ? 1 : 0},
        due_at = now() + ${isInterrupted ? 0 : backoff(attempts, retry.baseMs)} * interval '1 ms'
      where ${sql(owner)} = ${row.owner} and ${sql(key)} = ${row.key} and worker = ${worker} and attempts = ${attempts}`;
  };

  const record = async (write: () => PromiseLike<unknown>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      log.warn(
        { err: error, table },
        'the result of background work could not be written; it will be retried',
      );
      unrecorded.push(write);
    }
  };

  const work = async (row: LeasedRow): Promise<void> => {
    const write = await perform(row).catch((error: unknown) => recordFailure(row, error));
    if (write !== undefined) await record(write);
  };

  return {
    /** Starts the work of a due row. Returns false if none is due or the limit is reached. */
    startNext: async (): Promise<boolean> => {
      if (running.size >= limits[0]) return false;
      const row = await claim(busyOwners());
      if (row === undefined) return false;
      const task = work(row).finally(() => {
        running.delete(task);
        onRoom();
      });
      running.set(task, row.owner);
      return true;
    },
    /** Retries to record results that could not be written. Call it several times per lease. */
    retryRecords: async (): Promise<void> => {
      const writes = unrecorded;
      unrecorded = [];
      for (const write of writes) await record(write);
    },
    /** Resolves when no row is in work. */
    untilIdle: async (): Promise<void> => {
      while (running.size > 0) await Promise.allSettled(running.keys());
    },
  };
};
