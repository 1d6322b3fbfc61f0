import type { Sql } from 'postgres';
import { startBackground } from './background.ts';
import type { BaseContext } from '../process/context.ts';
import type { Log } from '../process/log.ts';

/** Rows that are kept only for a limited time. The strings are the service's own SQL, never input. */
export interface Prunable {
  table: string;
  /** Condition for rows to delete, by the database's clock. Its column must be indexed. */
  outdated: string;
  /** Maximum number of rows per transaction; set fewer for large rows. Default: 1,000. */
  batchSize?: number;
}

interface PruningOptions {
  sql: Sql;
  log: Log;
  prunables: readonly Prunable[];
  /** Milliseconds between two runs. Default: 10 minutes. */
  everyMs?: number;
}

/** Key of the advisory lock of all processes that prune. */
const lockKey = 4_218_335;

/** Target duration of a transaction; statements time out after 5 s. */
const targetMs = 2000;

/** Deletes up to `batchSize` rows that are not locked. Returns their number; undefined while another process prunes. */
const deleteBatch = (
  sql: Sql,
  { table, outdated, batchSize }: Required<Prunable>,
): Promise<number | undefined> =>
  sql.begin(async (tx) => {
    const [{ locked }] = await tx<
      [{ locked: boolean }]
    >`select pg_try_advisory_xact_lock(${lockKey}) as locked`;
    if (!locked) return undefined;
    const { count } = await tx.unsafe(
      `delete from ${table} where ctid = any(array(
         select ctid from ${table} where ${outdated} limit ${batchSize} for update skip locked))`,
    );
    return count;
  });

/**
 * Deletes outdated rows in the background until disposed of, in small transactions, so that no request waits long. Every
 * instance of a service runs it; only one works at a time.
 */
export const startPruning = (options: PruningOptions): AsyncDisposable => {
  const { sql, log, prunables, everyMs = 600_000 } = options;
  let stopping = false;
  /** Current batch size of each table. Rows may have megabytes, so a batch that was slow or failed makes the next one smaller. */
  const batchSizes = new Map<string, number>();
  const prune = async ({ batchSize: maxBatchSize = 1000, ...prunable }: Prunable): Promise<void> => {
    let rows = 0;
    for (let hasMore = true; hasMore && !stopping;) {
      const batchSize = batchSizes.get(prunable.table) ?? maxBatchSize;
      const start = performance.now();
      try {
        const count = await deleteBatch(sql, { ...prunable, batchSize });
        rows += count ?? 0;
        hasMore = count === batchSize;
      } finally {
        const targetSize = Math.floor((batchSize * targetMs) / (performance.now() - start));
        batchSizes.set(prunable.table, Math.min(maxBatchSize, Math.max(1, targetSize)));
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
