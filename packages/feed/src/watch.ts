import { setTimeout as sleep } from 'node:timers/promises';
import { currentRequest, runOutsideRequest, waitUncounted } from '@platform/service-kit/request-scope';
import { moveChanges, readLog, type Cursor, type LogPage, type LogQuery } from './log.ts';
import type { FeedOptions } from './followed-list.ts';

/** Between two looks while somebody waits. */
const everyMs = 100;
/** Changes that one look reads at most. */
const limit = 1000;
/** Batches that are kept for those who were busy with an earlier one. */
const kept = 10;
/** After so many looks for which no reader waits, looking ends. Fewer would not do: a reader may be busy with its last page. */
const maxIdle = 10;

/** What one look has found, for all who wait. */
export interface Batch extends LogPage {
  from: Cursor;
  /** What readers have made of it, by what they see. */
  shared: Map<string, unknown>;
  /** How many characters of that have been kept. */
  kept: number;
}

/** Whether the reader of this place goes on with the batch: it has seen what comes before, and nothing of another history. */
const continues = ({ from, changes, next }: Batch, { epoch, position, stamp }: Cursor): boolean => {
  if (epoch !== from.epoch || position < from.position || position >= next.position) return false;
  if (position === from.position) return stamp === from.stamp;
  return changes.some((change) => BigInt(change.version) === position && BigInt(change.stamp) === stamp);
};

/**
 * Lets any number of requests wait for the next changes of a list, with one look at the log for all of them. Each list has looks of
 * its own, because one that changes much would delay the others.
 */
export const createWatch = (
  { database: { sql }, health, days }: FeedOptions,
  { list, memberships }: Pick<LogQuery, 'list' | 'memberships'>,
) => {
  type Resolve = (found: Batch | 'behind' | undefined) => void;
  /** Who waits, and the place up to which each has read. */
  const waiting = new Map<Resolve, Cursor>();
  let batches: Batch[] = [];
  /** The place up to which the looks have read; the next one begins with that of a reader where there is none. */
  let end: Cursor | undefined;
  let isLooking = false;

  const foundFor = (place: Cursor): Batch | 'behind' | undefined => {
    const batch = batches.find((one) => continues(one, place));
    if (batch !== undefined) return batch;
    return end !== undefined && place.position < end.position ? 'behind' : undefined;
  };
  const wake = (): void => {
    for (const [resolve, place] of waiting) {
      const found = foundFor(place);
      if (found !== undefined) resolve(found);
    }
  };
  /** Resolves with whether there may be more. */
  const lookAfter = async (from: Cursor): Promise<boolean> => {
    const isBehind = await moveChanges(sql);
    const page = await readLog(sql, { list, memberships, owners: undefined, after: from, limit, days });
    if (typeof page === 'string') {
      // The database has another history now. Each reader learns that from its own cursor.
      [end, batches] = [undefined, []];
      for (const resolve of waiting.keys()) resolve('behind');
      return false;
    }
    if (page.next.position > from.position) {
      batches = [...batches.slice(1 - kept), { ...page, from, shared: new Map(), kept: 0 }];
      end = page.next;
      wake();
    }
    return isBehind || page.hasMore;
  };
  const look = async (): Promise<void> => {
    for (let idle = 0; idle < maxIdle && !health.draining; idle++) {
      // A database that is away comes back.
      const hasMore = end !== undefined && (await lookAfter(end).catch(() => false));
      if (waiting.size > 0) idle = 0;
      // Also where there is more, because those who wait have to come back for it.
      await sleep(hasMore ? 1 : everyMs);
    }
    [end, batches, isLooking] = [undefined, [], false];
    for (const resolve of waiting.keys()) resolve(undefined);
  };
  return {
    /**
     * Resolves with the changes behind `place`, or with `behind` when the caller has to read them itself; with undefined after
     * `ms`, at SIGTERM or when the client has gone. The request does not count as in progress meanwhile.
     */
    changes: (place: Cursor, ms: number): Promise<Batch | 'behind' | undefined> =>
      waitUncounted(async () => {
        const found = foundFor(place);
        // Who reads on at once must not lead the looks back to its place.
        if (found !== undefined || ms <= 0) return found;
        const { promise, resolve } = Promise.withResolvers<Batch | 'behind' | undefined>();
        const scope = currentRequest();
        const stop = () => resolve(undefined);
        const timer = setTimeout(stop, ms);
        scope?.onCancel.add(stop);
        waiting.set(resolve, place);
        end ??= place;
        if (!isLooking) {
          isLooking = true;
          void runOutsideRequest(look);
        }
        const changes = await promise;
        waiting.delete(resolve);
        scope?.onCancel.delete(stop);
        clearTimeout(timer);
        // What it asks the database now waits in its turn, and does not come before new requests.
        if (scope) scope.uses = 0;
        return changes;
      }),
  };
};
