import type { Sql } from 'postgres';
import { attemptsWithin, backoff } from './backoff.ts';
import type { Log } from '../process/log.ts';
import { safeErrorMessage } from '../process/safe-error.ts';

/**
 * A table whose rows are work, with the columns `worker`, `attempts`, `due_at` and `error`. There is an index on the owner
 * and `due_at` of rows whose state is `pending`.
 */
export interface WorkTable {
  table: string;
  /** The column of the owner (a UUID); it and `key` identify a row. */
  owner: string;
  key: string;
  /** The column that is `pending` until the work is done, and `failed` after the last attempt. */
  state: string;
}

/** A row that is work to be done, claimed by this worker. */
export interface LeasedRow {
  owner: string;
  key: string;
  /** Number of claims including this one; with the worker it distinguishes this claim from others. */
  attempts: number;
}

export interface LeaseOptions {
  sql: Sql;
  log: Log;
  /** Id of this worker. The caller writes its heartbeat, and sets `worker = null` in the rows of a worker that has none. */
  worker: string;
  /** How long failed work is tried again, and the first pause. */
  retry: { hours: number; baseMs: number };
  /** Called with each failure. `interrupted` does not count as an attempt; `final` is not tried again. */
  onFailure(error: unknown, row: LeasedRow): 'retry' | 'interrupted' | 'final';
  /** Called whenever another row can begin. */
  onRoom(): void;
}

interface LeasedWork extends LeaseOptions, WorkTable {
  /** Rows in work at most: of all owners, and of one. */
  limits: readonly [all: number, ofOwner: number];
  /**
   * Does the work. Resolves with a function that records the result, if that is not done yet: it is called again until
   * the database takes it. Rejects when the work is to be tried again.
   */
  perform(row: LeasedRow): Promise<(() => PromiseLike<unknown>) | void>;
}

/** What `createLeasedWork` makes. */
export type Leases = ReturnType<typeof createLeasedWork>;

/** Sorts before the id of every owner. */
const first = '00000000-0000-0000-0000-000000000000';

/**
 * Makes a function that claims the oldest due row of the next owner; undefined if there is none. The owners take turns, so
 * one with many rows delays no other. `busy` are owners that are passed over, as PostgreSQL reads an array.
 */
const createFairClaim = ({ sql, worker, table, owner, key, state }: LeasedWork) => {
  const isDue = () => sql`${sql(state)} = 'pending' and worker is null and due_at <= now()`;
  /** The owner whose turn was last. */
  let last = first;
  const claimAfterLast = async (busy: string): Promise<LeasedRow | undefined> => {
    const [row] = await sql<LeasedRow[]>`
      with recursive turn as (
        (select ${sql(owner)} as owner from ${sql(table)} where ${isDue()} and ${sql(owner)} > ${last}
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
    last = row?.owner ?? first;
    return row;
  };
  return async (busy: readonly string[]): Promise<LeasedRow | undefined> => {
    const isFirst = last === first;
    const owners = `{${busy.join(',')}}`;
    return (await claimAfterLast(owners)) ?? (isFirst ? undefined : claimAfterLast(owners));
  };
};

/**
 * Does the work of rows that are due, some at a time and one owner after the other. A claim lasts for as long as `worker`
 * is alive, so work may take any time. Failed attempts are repeated with a growing delay.
 */
export const createLeasedWork = (work: LeasedWork) => {
  const { sql, log, worker, table, owner, key, state, limits, retry, perform, onFailure, onRoom } = work;
  const maxAttempts = attemptsWithin(retry.hours, retry.baseMs);
  const underWay = new Map<Promise<void>, string>();
  let unrecorded: (() => PromiseLike<unknown>)[] = [];
  const claim = createFairClaim(work);

  const busyOwners = (): string[] => {
    const owners = Map.groupBy(underWay.values(), (id) => id);
    return [...owners].filter(([, rows]) => rows.length >= limits[1]).map(([id]) => id);
  };

  const failed = (row: LeasedRow, error: unknown) => {
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
      log.warn({ err: error, table }, 'the result of background work could not be written');
      unrecorded.push(write);
    }
  };

  const run = async (row: LeasedRow): Promise<void> => {
    const write = await perform(row).catch((error: unknown) => failed(row, error));
    if (write !== undefined) await record(write);
  };

  return {
    /** Begins with a row that is due; returns whether there was one and room for it. */
    round: async (): Promise<boolean> => {
      if (underWay.size >= limits[0]) return false;
      const row = await claim(busyOwners());
      if (row === undefined) return false;
      const task = run(row).finally(() => {
        underWay.delete(task);
        onRoom();
      });
      underWay.set(task, row.owner);
      return true;
    },
    /** Records results that the database did not take before; call it several times in a lease. */
    beat: async (): Promise<void> => {
      const again = unrecorded;
      unrecorded = [];
      for (const write of again) await record(write);
    },
    /** Resolves when no row is in work. */
    idle: async (): Promise<void> => {
      while (underWay.size > 0) await Promise.allSettled(underWay.keys());
    },
  };
};
