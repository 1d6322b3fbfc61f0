import type { Log } from '@platform/service-kit/log';
import { tellableError } from './failure.ts';
import { createClient, type Where } from './sentry.ts';

export interface ErrorTracker extends AsyncDisposable {
  capture(error: unknown, where: Where): void;
}

/**
 * Reports failures: always to the structured log, and to a Sentry-compatible tracker if `dsn` is set.
 */
export const createTracker = async (dsn: string | undefined, log: Log): Promise<ErrorTracker> => {
  const client = dsn === undefined ? undefined : await createClient(dsn);
  return {
    capture: (error, where) => {
      const err = tellableError(error);
      log.error({ err, ...where }, 'processing failed');
      client?.capture(err, where);
    },
    [Symbol.asyncDispose]: async () => {
      await client?.close();
    },
  };
};
