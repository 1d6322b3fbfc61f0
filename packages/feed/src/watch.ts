import { setTimeout as sleep } from 'node:timers/promises';
import { currentRequest, runOutsideRequest, waitUncounted } from '@platform/service-kit/request-scope';
import { moveChanges, readLog, type Cursor, type LogPage, type LogQuery } from './log.ts';
import type { FeedOptions } from './followed-list.ts';

/** Interval of polls while a reader waits. */
const pollMs = 100;
/** Maximum number of changes per poll. */
const limit = 1000;
/** Number of batches that are kept for readers who were busy with an earlier one. */
const maxBatches = 10;
/** Polling ends after this many polls without a waiting reader. More than one, because readers may be busy with their last page. */
const maxIdlePolls = 10;

/** The changes that one poll has found, shared by all waiting readers. */
export interface Batch extends LogPage {
  from: Cursor;
  /** Key of the readers' rights and filters → their page. */
  shared: Map<string, unknown>;
  /** Characters of these pages. */
  sharedLength: number;
}

/** Whether a reader at this cursor can continue with the batch: it has seen exactly the changes before it, of the same history. */
const continues = ({ from, changes, next }: Batch, { epoch, position, stamp }: Cursor): boolean => {
  if (epoch !== from.epoch || position < from.position || position >= next.position) return false;
  if (position === from.position) return stamp === from.stamp;
  return changes.some((change) => BigInt(change.version) === position && BigInt(change.stamp) === stamp);
};

/**
 * Lets any number of requests wait for the next changes of a list and polls the log once for all of them. Each list is polled
 * separately, because a list with many changes would delay the others.
 */
export const createWatch = (
  { database: { sql }, health, days }: FeedOptions,
  { list, memberships }: Pick<LogQuery, 'list' | 'memberships'>,
) => {
  type Resolve = (result: Batch | 'behind' | undefined) => void;
  /** The waiting readers and their cursors. */
  const waiting = new Map<Resolve, Cursor>();
  let batches: Batch[] = [];
  /** The cursor up to which polls have read; if undefined, the next poll starts at the cursor of a reader. */
  let end: Cursor | undefined;
  let isPolling = false;

  const findBatch = (cursor: Cursor): Batch | 'behind' | undefined => {
    const batch = batches.find((candidate) => continues(candidate, cursor));
    if (batch !== undefined) return batch;
    return end !== undefined && cursor.position < end.position ? 'behind' : undefined;
  };
  const wake = (): void => {
    for (const [resolve, cursor] of waiting) {
      const result = findBatch(cursor);
      if (result !== undefined) resolve(result);
    }
  };
  /** Reads the changes after a cursor. Resolves with whether there may be more. */
  const pollAfter = async (from: Cursor): Promise<boolean> => {
    const isBehind = await moveChanges(sql);
    const page = await readLog(sql, { list, memberships, owners: undefined, after: from, limit, days });
    if (typeof page === 'string') {
      // The database was restored or pruned. Each reader gets the error when it reads from its own cursor.
      [end, batches] = [undefined, []];
      for (const resolve of waiting.keys()) resolve('behind');
      return false;
    }
    if (page.next.position > from.position) {
      batches = [...batches.slice(1 - maxBatches), { ...page, from, shared: new Map(), sharedLength: 0 }];
      end = page.next;
      wake();
    }
    return isBehind || page.hasMore;
  };
  const poll = async (): Promise<void> => {
    for (let idlePolls = 0; idlePolls < maxIdlePolls && !health.draining; idlePolls++) {
      // Errors are ignored, because the database may be available again at the next poll.
      const hasMore = end !== undefined && (await pollAfter(end).catch(() => false));
      if (waiting.size > 0) idlePolls = 0;
      // Pauses even if there is more, so that the readers can wait again before the next batch.
      await sleep(hasMore ? 1 : pollMs);
    }
    [end, batches, isPolling] = [undefined, [], false];
    for (const resolve of waiting.keys()) resolve(undefined);
  };
  return {
    /**
     * Resolves with the batch after `cursor`, or with `behind` if the caller must read the changes itself. Resolves with undefined
     * after `ms`, at SIGTERM, or if the client disconnects. Meanwhile the request does not count as in progress.
     */
    changes: (cursor: Cursor, ms: number): Promise<Batch | 'behind' | undefined> =>
      waitUncounted(async () => {
        const result = findBatch(cursor);
        // A reader that does not wait must not set the start of the polls.
        if (result !== undefined || ms <= 0) return result;
        const { promise, resolve } = Promise.withResolvers<Batch | 'behind' | undefined>();
        const scope = currentRequest();
        const stop = () => resolve(undefined);
        const timer = setTimeout(stop, ms);
        scope?.onCancel.add(stop);
        waiting.set(resolve, cursor);
        end ??= cursor;
        if (!isPolling) {
          isPolling = true;
          void runOutsideRequest(poll);
        }
        const changes = await promise;
        waiting.delete(resolve);
        scope?.onCancel.delete(stop);
        clearTimeout(timer);
        // Resets the priority, so that its next statements do not come before those of new requests.
        if (scope) scope.uses = 0;
        return changes;
      }),
  };
};
