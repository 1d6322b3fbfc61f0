import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import type { SlowConnection } from '../../db/slow-connection.ts';
import { closeDays, firstOpenDay, newestFinishedDay } from './queries.ts';

/** Stores the sums of each day soon after its end. Disposal does not wait for a run in progress. */
export const startClosing = (
  sql: Sql,
  { slow, everyMs, log }: { slow: SlowConnection; everyMs: number; log: Log },
): AsyncDisposable => {
  const run = async (): Promise<void> => {
    const finished = await newestFinishedDay(sql);
    const open = await firstOpenDay(sql);
    if (open !== null && open <= finished) await slow.run((connection) => closeDays(connection, finished));
  };
  // Pauses first, because the replicas of a rollout start together, and a program may only need the context.
  const background = startBackground({ name: 'account summary', everyMs, pauseFirst: true, log, run });
  return {
    // Not awaited: the work ends when `slow` is disposed.
    [Symbol.asyncDispose]: async () => void background[Symbol.asyncDispose](),
  };
};
