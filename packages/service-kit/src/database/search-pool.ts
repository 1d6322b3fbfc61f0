import type { ISql } from 'postgres';
import { z } from 'zod';
import { Unavailable } from '../http/problem.ts';
import { openDatabase } from './database.ts';
import { withDeadline } from '../overload/request-scope.ts';

/** Settings of a service with searches. */
export const searchEnv = {
  /** Number of searches of each kind that run at the same time. */
  SEARCH_POOL: z.coerce.number().int().min(1).max(50).default(2),
  /** Maximum number of waiting searches of each kind; the next one is refused with Unavailable `too_busy`. */
  SEARCH_QUEUE: z.coerce.number().int().min(0).default(50),
  /** Maximum time that a search waits, in milliseconds. */
  SEARCH_WAIT_MS: z.coerce.number().int().min(1).default(10_000),
  /** Timeout of a search from its start, in milliseconds. */
  SEARCH_TIMEOUT_MS: z.coerce.number().int().min(1).default(3000),
};

/** Pages with a greater offset are read on the connections of searches. */
const maxOffset = 10_000n;

/** Whether skipping the rows before a page takes so long that the page is read like a search. */
export const isLatePage = ({ offset }: { offset: bigint }): boolean => offset > maxOffset;

const isCancelled = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === '57014';

export type SearchPool = ReturnType<typeof openSearchPool>;

interface SearchOptions extends z.output<z.ZodObject<typeof searchEnv>> {
  DATABASE_URL: string;
}

/**
 * Opens separate connections for searches of one kind, so that slow ones delay only each other. `name` is the name of the
 * connections; `advice` tells callers how to narrow a search that takes too long.
 */
export const openSearchPool = (name: string, options: SearchOptions, advice: string) => {
  const { SEARCH_WAIT_MS: maxWaitMs, SEARCH_TIMEOUT_MS: statementTimeoutMs } = options;
  const tooSlow = (error?: unknown): Unavailable =>
    new Unavailable('query_timeout', `The search takes too long. ${advice}`, error);
  const database = openDatabase({
    url: options.DATABASE_URL,
    name,
    max: options.SEARCH_POOL,
    statementTimeoutMs,
    maxWaiting: options.SEARCH_QUEUE,
    maxWaitMs,
  });
  const search = async <T>(read: (sql: ISql) => Promise<T>): Promise<T> => {
    const { result } = await database.sql.begin('read only', async (tx) => {
      // Set for the transaction only, because PgBouncer gives the connection to others afterwards. PostgreSQL plans each search
      // again, because the best plan depends on the text.
      await tx`
        select set_config('statement_timeout', ${statementTimeoutMs}::text, true), set_config('jit', 'off', true),
          set_config('plan_cache_mode', 'force_custom_plan', true)`;
      // Wrapped in an object, because the driver would await the elements of an array.
      return { result: await read(tx) };
    });
    return result;
  };
  return {
    /** Calls `read`, which sends one statement, when a connection is free. Throws Unavailable `query_timeout` or `too_busy`. */
    run: async <T>(read: (sql: ISql) => Promise<T>): Promise<T> => {
      try {
        // In a new scope, because a request that has already used a connection would wait here without a time limit.
        return await withDeadline(maxWaitMs + statementTimeoutMs, tooSlow, () => search(read));
      } catch (error) {
        throw isCancelled(error) ? tooSlow(error) : error;
      }
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
};
