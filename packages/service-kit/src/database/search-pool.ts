import type { ISql } from 'postgres';
import { z } from 'zod';
import { Unavailable } from '../http/problem.ts';
import { openDatabase } from './database.ts';
import { withDeadline } from '../overload/request-scope.ts';

/** Settings of a service with searches. */
export const searchEnv = {
  /** Searches of each kind that run at the same time. */
  SEARCH_POOL: z.coerce.number().int().min(1).max(50).default(2),
  /** Searches of each kind that may wait for those that run; the next one is refused with Unavailable `too_busy`. */
  SEARCH_QUEUE: z.coerce.number().int().min(0).default(50),
  /** Maximum time that they may wait, in milliseconds. */
  SEARCH_WAIT_MS: z.coerce.number().int().min(1).default(10_000),
  /** Timeout of a search from its start, in milliseconds. */
  SEARCH_TIMEOUT_MS: z.coerce.number().int().min(1).default(3000),
};

/** Rows before a page, up to which it is read on the connections that all requests share. */
const mostSkipped = 10_000n;

/** Whether the rows before a page of a list take so long to skip that it is read like a search. */
export const isLatePage = ({ offset }: { offset: bigint }): boolean => offset > mostSkipped;

const isCancelled = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === '57014';

/** What `openSearchPool` opens. */
export type SearchPool = ReturnType<typeof openSearchPool>;

interface LaneOptions extends z.output<z.ZodObject<typeof searchEnv>> {
  DATABASE_URL: string;
}

/**
 * Searches of one kind, on connections of their own, so that slow ones delay only each other. `name` is that of the
 * connections; `advice` says how a search that takes too long can be narrowed.
 */
export const openSearchPool = (name: string, options: LaneOptions, advice: string) => {
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
      // Not for the connection, which PgBouncer gives to others after the transaction. PostgreSQL plans each search again,
      // because the best plan depends on the text.
      await tx`
        select set_config('statement_timeout', ${statementTimeoutMs}::text, true), set_config('jit', 'off', true),
          set_config('plan_cache_mode', 'force_custom_plan', true)`;
      // In an object, because the driver awaits the elements of an array.
      return { result: await read(tx) };
    });
    return result;
  };
  return {
    /**
     * Calls `read`, which makes one statement, when there is a connection for it. Throws Unavailable `query_timeout` or
     * `too_busy`.
     */
    run: async <T>(read: (sql: ISql) => Promise<T>): Promise<T> => {
      try {
        // A scope of its own: a request that has had another connection would wait here without a limit.
        return await withDeadline(maxWaitMs + statementTimeoutMs, tooSlow, () => search(read));
      } catch (error) {
        throw isCancelled(error) ? tooSlow(error) : error;
      }
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
};
