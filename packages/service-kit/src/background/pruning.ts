import type { Sql } from 'postgres';
import { startBackground } from './background.ts';
import type { BaseContext } from '../process/context.ts';
import type { Log } from '../process/log.ts';

/** Rows that are kept for a time only. Both are SQL of the service, never input. */
export interface Prunable {
  table: string;
  /** Condition of the rows to delete, by the clock of the database; an index on its column finds them. */
  outdated: string;
  /** Rows of one transaction: fewer where rows are large. 1,000 unless given. */
  batchSize?: number;
}

interface PruningOptions {
  sql: Sql;
  log: Log;
  prunables: readonly Prunable[];
  /** Milliseconds between two runs; 10 minutes unless given. */
  everyMs?: number;
}

/** One lock for all processes that prune; advisory locks are per database. */
const lock = 4_218_335;

/** How long a slice should take; a statement may take 5 s. */
const sliceMs = 2000;

/** Deletes up to `batchSize` rows that are not locked. Returns their number; undefined while another process prunes. */
const deleteSlice = (
  sql: Sql,
  { table, outdated, batchSize }: Required<Prunable>,
): Promise<number | undefined> =>
  sql.begin(async (tx) => {
    const [{ locked }] = await tx<[{ locked: boolean }]>`select pg_try_advisory_xact_lock(${lock}) as locked`;
    if (!locked) return undefined;
    const { count } = await tx.unsafe(
      `delete from ${table} where ctid = any(array(
         select ctid from ${table} where ${outdated} limit ${batchSize} for update skip locked))`,
    );
    return count;
  });

/**
 * Deletes outdated rows in the background until disposed of, in small transactions, so that no request waits for
 * long. Every instance of a service runs it; only one works at a time.
 */
export const startPruning = (options: PruningOptions): AsyncDisposable => {
  const { sql, log, prunables, everyMs = 600_000 } = options;
  let stopping = false;
  /** By table. Rows may have megabytes: after a slice that took long, or failed for that, the next one is smaller. */
  const sizes = new Map<string, number>();
  const prune = async ({ batchSize: most = 1000, ...prunable }: Prunable): Promise<void> => {
    let rows = 0;
    for (let hasMore = true; hasMore && !stopping;) {
      const batchSize = sizes.get(prunable.table) ?? most;
      const begun = performance.now();
      try {
        const count = await deleteSlice(sql, { ...prunable, batchSize });
        rows += count ?? 0;
        hasMore = count === batchSize;
      } finally {
        const fitting = Math.floor((batchSize * sliceMs) / (performance.now() - begun));
        sizes.set(prunable.table, Math.min(most, Math.max(1, fitting)));
      }
    }
    if (rows > 0) log.info({ table: prunable.table, rows }, 'outdated rows deleted');
  };
  const background = startBackground({
    name: 'pruning',
    everyMs,
    log,
    run: async () => {
      const failures: unknown[] = [];
      for (const prunable of prunables) await prune(prunable).catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  });
  return {
    [Symbol.asyncDispose]: async () => {
      stopping = true;
      await background[Symbol.asyncDispose]();
    },
  };
};

/** Deletes outdated rows of a service until its context is disposed of. Returns the context. */
export const withPruning = <Context extends BaseContext>(
  context: Context,
  prunables: readonly Prunable[],
): Context => {
  context.resources.use(startPruning({ sql: context.database.sql, log: context.log, prunables }));
  return context;
};
