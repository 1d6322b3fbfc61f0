import { TooBusy } from '../http/problem.ts';
import { createLru } from '../process/lru.ts';
import { currentRequest, waitUncounted } from './request-scope.ts';

export interface CpuShareOptions {
  /** The share of the time of the main thread that the work may take, from 0 to 1. */
  share: number;
  /** Time that the work may take at once after a pause, in ms. */
  burstMs?: number;
  /** Maximum amount of waiting work. Beyond it, the newest of the group with the most is refused. */
  maxWaiting?: number;
  /** A group that has used less than this time lately, in ms, does not wait. By default 1 % of the thread. */
  lightMs?: number;
  now?: () => number;
}

export type CpuShare = ReturnType<typeof createCpuShare>;

interface Waiting {
  group: string;
  start(): void;
  giveUp(): void;
}

/** The time that a group has used counts half after this time, in ms. */
const halfLifeMs = 10_000;
/** Groups that need not wait may exceed the share of all work by this time, in ms. */
const maxOverdraftMs = 500;
const maxGroups = 10_000;

/**
 * Creates a runner of synchronous work that can take milliseconds, such as parsing a large body. Work starts at once while all of
 * it takes less than its share of the main thread. Beyond that it waits, and the group that has used the least time lately comes
 * first. A group that has used little does not even wait. So a group that causes much work delays itself, and requests without such
 * work stay fast.
 */
export const createCpuShare = (options: CpuShareOptions) => {
  const { share, burstMs = 20, maxWaiting = 500, lightMs = 150, now = () => performance.now() } = options;
  /** In the order of arrival. */
  const waiting = new Set<Waiting>();
  const used = createLru<string, { ms: number; at: number }>(maxGroups);
  let leftMs = burstMs;
  let countedAt = now();
  /** Whether waiting work was started and has not run yet. */
  let isStarting = false;
  let timer: NodeJS.Timeout | undefined;

  const usedBy = (group: string, at: number): number => {
    const last = used.peek(group);
    return last === undefined ? 0 : last.ms * 0.5 ** ((at - last.at) / halfLifeMs);
  };
  const refill = (): void => {
    const at = now();
    leftMs = Math.min(burstMs, leftMs + (at - countedAt) * share);
    countedAt = at;
  };
  const startNext = (): void => {
    if (isStarting || timer !== undefined || waiting.size === 0) return;
    refill();
    if (leftMs <= 0) {
      const resume = (): void => {
        timer = undefined;
        startNext();
      };
      timer = setTimeout(resume, Math.ceil(-leftMs / share));
      return;
    }
    const at = now();
    let next: Waiting | undefined;
    let least = Infinity;
    for (const item of waiting) {
      const ms = usedBy(item.group, at);
      if (ms < least) [next, least] = [item, ms];
    }
    isStarting = true;
    next?.start();
  };
  const refuseOne = (): void => {
    const groups = [...Map.groupBy(waiting, ({ group }) => group).values()];
    const largest = groups.reduce((most, group) => (group.length > most.length ? group : most), []);
    largest.at(-1)?.giveUp();
  };
  const turnOf = (group: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const scope = currentRequest();
      const leave = (): void => {
        waiting.delete(item);
        scope?.onCancel.delete(giveUp);
      };
      const giveUp = (): void => {
        leave();
        reject(scope?.cancelled ?? new TooBusy('Too many large bodies wait to be read; try again shortly.'));
      };
      const start = (): void => {
        leave();
        resolve();
      };
      const item = { group, start, giveUp };
      if (scope?.cancelled) return giveUp();
      scope?.onCancel.add(giveUp);
      waiting.add(item);
      if (waiting.size > maxWaiting) refuseOne();
      startNext();
    });
  const runCounted = <T>(group: string, work: () => T): T => {
    const start = now();
    try {
      return work();
    } finally {
      const end = now();
      leftMs -= end - start;
      used.set(group, { ms: usedBy(group, end) + end - start, at: end });
      startNext();
    }
  };

  /**
   * Runs `work` in the turn of its group, for example the id of a store. Only the time until `work` returns counts, also if it
   * returns a promise. While it waits, its request does not count as in progress. Rejects with what `work` throws, with TooBusy,
   * and if the request is cancelled while it waits.
   */
  return async <T>(group: string, work: () => T | Promise<T>): Promise<T> => {
    refill();
    const isLight = leftMs > -maxOverdraftMs && usedBy(group, countedAt) < lightMs;
    const isFree = leftMs > 0 && waiting.size === 0 && !isStarting;
    if (!isLight && !isFree) {
      await waitUncounted(() => turnOf(group));
      isStarting = false;
    }
    return runCounted(group, work);
  };
};
