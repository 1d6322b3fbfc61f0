import { setTimeout as sleep } from 'node:timers/promises';
import { currentRequest, runOutsideRequest, waitUncounted } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';
import { endOfLog } from './log.ts';

/** Between two looks while somebody waits. */
const everyMs = 100;

/** Lets any number of requests wait for the next change with one look at the log for all of them. */
export const createWatch = (sql: Sql, isDraining: () => boolean) => {
  /** Who waits, and the end of the log that each has seen. */
  const waiting = new Map<() => void, bigint>();
  let isLooking = false;
  const release = (end?: bigint): void => {
    for (const [resolve, seen] of waiting) if (seen !== end) resolve();
  };
  const look = async (): Promise<void> => {
    isLooking = true;
    while (waiting.size > 0 && !isDraining()) {
      // Who is released by an error meets it again.
      release(
        await endOfLog(sql).then(
          ({ position }) => position,
          () => undefined,
        ),
      );
      await sleep(everyMs);
    }
    release();
    isLooking = false;
  };
  return {
    /**
     * Resolves when the log does not end at `seen`, and at the latest after `ms`, at SIGTERM or when the client has gone. The
     * request does not count as in progress meanwhile.
     */
    changed: (seen: bigint, ms: number): Promise<void> =>
      waitUncounted(async () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const scope = currentRequest();
        const timer = setTimeout(resolve, ms);
        scope?.onCancel.add(resolve);
        waiting.set(resolve, seen);
        if (!isLooking) void runOutsideRequest(look);
        await promise;
        waiting.delete(resolve);
        scope?.onCancel.delete(resolve);
        clearTimeout(timer);
      }),
  };
};
