import { hash } from 'node:crypto';
import { TooBusy } from '../http/problem.ts';
import { createLru } from '../process/lru.ts';
import { currentRequest, waitUncounted } from './request-scope.ts';

export interface CpuShareOptions {
  /** The share of the time of the main thread that the work may take, from 0 to 1. */
  share: number;
  /** Time that the work may take at once after a pause, in ms. */
  burstMs?: number;
  /** Maximum number of waiting requests. Beyond it, the newest of the group that has used the most is refused. */
  maxWaiting?: number;
  /** Work of a group that has used less than this time lately, in ms, may exceed the share. By default 1 % of the thread. */
  lightMs?: number;
  now?: () => number;
}

export type CpuShare = ReturnType<typeof createCpuShare>;

interface Waiting {
  /** Work of background tasks is never refused: their number is bounded. */
  isRequest: boolean;
  start(): void;
  giveUp(): void;
}

interface Group {
  /** The keys of the groups around it and its own, widest first. */
  keys: readonly string[];
  /** In the order of arrival. */
  items: Set<Waiting>;
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
  /** The groups with waiting work, by their own key. */
  const groups = new Map<string, Group>();
  let waitingRequests = 0;
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
    if (isStarting || groups.size === 0) return;
    clearTimeout(timer);
    refill();
    let next: Group | undefined;
    for (const group of groups.values())
      if (next === undefined || compare(group.keys, next.keys) < 0) next = group;
    if (next !== undefined && mayRun(next.keys)) {
      isStarting = true;
      const [first] = next.items;
      first?.start();
      return;
    }
    const missingMs = next !== undefined && isLight(next.keys) ? -maxOverdraftMs - leftMs : -leftMs;
    timer = setTimeout(startNext, Math.max(1, Math.ceil(missingMs / share)));
  };
  const refuseOne = (): void => {
    let most: { keys: readonly string[]; request: Waiting } | undefined;
    for (const { keys, items } of groups.values()) {
      const request = [...items].findLast(({ isRequest }) => isRequest);
      if (request && (most === undefined || compare(keys, most.keys) > 0)) most = { keys, request };
    }
    most?.request.giveUp();
  };
  const groupOf = (keys: readonly string[]): Group => {
    const key = keys.at(-1) ?? '';
    const group = groups.get(key) ?? { keys, items: new Set() };
    groups.set(key, group);
    return group;
  };
  const turnOf = (keys: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const scope = currentRequest();
      const isRequest = scope?.deadlineMs !== undefined;
      const { items } = groupOf(keys);
      const leave = (): void => {
        items.delete(item);
        if (items.size === 0) groups.delete(keys.at(-1) ?? '');
        if (isRequest) waitingRequests--;
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
      const item = { isRequest, start, giveUp };
      items.add(item);
      if (isRequest) waitingRequests++;
      if (scope?.cancelled) return giveUp();
      scope?.onCancel.add(giveUp);
      if (waitingRequests > maxWaiting) refuseOne();
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
    if (groups.size > 0 || isStarting || !mayRun(keys)) {
      await waitUncounted(() => turnOf(keys));
      isStarting = false;
    }
    return runCounted(keys, work);
  };
};
