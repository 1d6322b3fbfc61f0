import { hash } from 'node:crypto';
import { TooBusy } from '../http/problem.ts';
import { createLru } from '../process/lru.ts';
import { currentRequest, waitUncounted } from './request-scope.ts';

export interface CpuShareOptions {
  /** The share of the time of the main thread that the work may take, from 0 to 1. */
  share: number;
  /** Time that the work may take at once after a pause, in ms. */
  burstMs?: number;
  /** Maximum amount of waiting work. Beyond it, that of the group that has used the most is refused. */
  maxWaiting?: number;
  /** Work of a group that has used less than this time lately, in ms, may exceed the share. By default 1 % of the thread. */
  lightMs?: number;
  now?: () => number;
}

export type CpuShare = ReturnType<typeof createCpuShare>;

interface Waiting {
  /** The keys of its group and of the groups around it, widest first. */
  keys: readonly string[];
  start(): void;
  giveUp(): void;
}

/** The time that a group has used counts half after this time, in ms. */
const halfLifeMs = 10_000;
/** Time by which work of light groups may exceed the share, in ms. */
const maxOverdraftMs = 500;
const maxGroups = 20_000;

/** A key for each prefix of a path. Hashed, because a name may be a credential, whose length clients choose. */
const keysOf = (path: readonly string[]): string[] =>
  path.map((_name, at) => hash('sha256', path.slice(0, at + 1).join('\n'), 'base64url'));

/**
 * Creates a runner of synchronous work that can take milliseconds, such as parsing a large body. Work starts at once while all of
 * it takes less than its share of the main thread. Beyond that it waits, and the group that has used the least time lately comes
 * first; one that has used little hardly waits. So a group that causes much work delays itself, and requests without such work
 * stay fast.
 */
export const createCpuShare = (options: CpuShareOptions) => {
  const { share, burstMs = 20, maxWaiting = 200, lightMs = 150, now = () => performance.now() } = options;
  /** In the order of arrival. */
  const waiting = new Set<Waiting>();
  /** The logarithm of the time that a group has used, as it was at time 0: it needs no update while time passes. */
  const scores = createLru<string, number>(maxGroups);
  let leftMs = burstMs;
  let countedAt = now();
  /** Whether waiting work was started and has not run yet. */
  let isStarting = false;
  let timer: NodeJS.Timeout | undefined;

  const scoreOf = (key: string): number => scores.peek(key) ?? -Infinity;
  const usedBy = (key: string): number => 2 ** (scoreOf(key) - countedAt / halfLifeMs);
  const isLight = ([widest = '']: readonly string[]): boolean => usedBy(widest) < lightMs;
  /** Below zero if the first group has used less. */
  const compare = (some: readonly string[], others: readonly string[]): number => {
    for (const [at, key] of some.entries()) {
      const other = others[at];
      if (other === undefined) return 1;
      const [score, otherScore] = [scoreOf(key), scoreOf(other)];
      if (score !== otherScore) return score < otherScore ? -1 : 1;
    }
    return some.length < others.length ? -1 : 0;
  };
  const refill = (): void => {
    const at = now();
    leftMs = Math.min(burstMs, leftMs + (at - countedAt) * share);
    countedAt = at;
  };
  const mayRun = (keys: readonly string[]): boolean => leftMs > (isLight(keys) ? -maxOverdraftMs : 0);

  const startNext = (): void => {
    if (isStarting || waiting.size === 0) return;
    clearTimeout(timer);
    refill();
    let next: Waiting | undefined;
    for (const item of waiting) if (next === undefined || compare(item.keys, next.keys) < 0) next = item;
    if (next !== undefined && mayRun(next.keys)) {
      isStarting = true;
      next.start();
      return;
    }
    const missingMs = next !== undefined && isLight(next.keys) ? -maxOverdraftMs - leftMs : -leftMs;
    timer = setTimeout(startNext, Math.max(1, Math.ceil(missingMs / share)));
  };
  const refuseOne = (): void => {
    let most: Waiting | undefined;
    for (const item of waiting) if (most === undefined || compare(item.keys, most.keys) >= 0) most = item;
    most?.giveUp();
  };
  const turnOf = (keys: readonly string[]): Promise<void> =>
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
      const item = { keys, start, giveUp };
      if (scope?.cancelled) return giveUp();
      scope?.onCancel.add(giveUp);
      waiting.add(item);
      if (waiting.size > maxWaiting) refuseOne();
      startNext();
    });
  const count = (keys: readonly string[], ms: number): void => {
    leftMs -= ms;
    const at = now() / halfLifeMs;
    for (const key of keys) scores.set(key, Math.log2(2 ** (scoreOf(key) - at) + ms) + at);
  };
  const runCounted = <T>(keys: readonly string[], work: () => T): T => {
    const start = now();
    try {
      return work();
    } finally {
      count(keys, now() - start);
      startNext();
    }
  };

  /**
   * Runs `work` in the turn of its group. `path` names the group and those around it, widest first, for example a network and a
   * user. Only the time until `work` returns counts, also if it returns a promise. While it waits, its request does not count as
   * in progress. Rejects with what `work` throws, with TooBusy, and if the request is cancelled while it waits.
   */
  return async <T>(path: readonly string[], work: () => T | Promise<T>): Promise<T> => {
    const keys = keysOf(path);
    refill();
    if (waiting.size > 0 || isStarting || !mayRun(keys)) {
      await waitUncounted(() => turnOf(keys));
      isStarting = false;
    }
    return runCounted(keys, work);
  };
};
