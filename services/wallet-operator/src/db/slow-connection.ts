import { openDatabase } from '@platform/service-kit/db';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';
import { SafeError } from '@platform/service-kit/safe-error';

/** Opens one connection for statements that read much of the ledger, which may take two minutes. */
export const openSlowDatabase = (url: string) =>
  openDatabase({ url, name: 'wallet-operator:slow', max: 1, statementTimeoutMs: 120_000 });

export type SlowConnection = ReturnType<typeof createSlowConnection>;

/**
 * Runs long work on one connection, because statements of the pool are cancelled after a few seconds. The connection is open
 * only while work runs. Disposal closes it without waiting; the work then rejects.
 */
export const createSlowConnection = (databaseUrl: string) => {
  let previous: Promise<unknown> = Promise.resolve();
  let open: Sql | undefined;
  let isDisposed = false;
  const runNow = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    if (isDisposed) throw new SafeError('the service stops');
    await using database = openSlowDatabase(databaseUrl);
    open = database.sql;
    return await work(database.sql);
  };
  return {
    /** Runs `work` after all earlier work. The end of the request does not cancel it. */
    run: <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
      const result = previous.then(() => runOutsideRequest(() => runNow(work)));
      // Only the caller gets the error; later work still runs.
      previous = result.catch(() => undefined);
      return result;
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      isDisposed = true;
      await open?.end({ timeout: 0 });
    },
  };
};
