import type { Log } from '../process/log.ts';

/** Lines of its own that a reason and network gets in a window. */
const linesEach = 10;
/** Pairs that are told apart in a window; further networks are counted together. */
const maxPairs = 100;
const defaultWindowMs = 60_000;

/** Bounds the lines that callers who are refused again and again can have written. */
export interface RefusalSampler extends Disposable {
  /**
   * Counts a refusal, and returns whether it gets a line of its own. `reason` must be one of few texts, none of them from
   * the request; `network` is that of the client (`networkOf`).
   */
  sample(reason: string, network: string): boolean;
}

interface Pair {
  reason: string;
  network: string;
  count: number;
}

/**
 * Lets the first ten refusals of each minute with the same reason and network pass. The others are counted, and each
 * minute, and on disposal, one line for each pair says how many they were.
 */
export const createRefusalSampler = (log: Log, windowMs = defaultWindowMs): RefusalSampler => {
  const pairs = new Map<string, Pair>();
  const report = (): void => {
    for (const { reason, network, count } of pairs.values()) {
      const refusals = count - linesEach;
      if (refusals > 0) log.warn({ reason, network, refusals }, 'repeated refusals');
    }
    pairs.clear();
  };
  const timer = setInterval(report, windowMs).unref();
  return {
    sample: (reason, network) => {
      const find = (by: string): Pair | undefined => pairs.get(`${by} ${reason}`);
      const from = find(network) === undefined && pairs.size >= maxPairs ? 'others' : network;
      const pair = find(from) ?? { reason, network: from, count: 0 };
      pair.count += 1;
      pairs.set(`${from} ${reason}`, pair);
      return pair.count <= linesEach;
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
      report();
    },
  };
};
