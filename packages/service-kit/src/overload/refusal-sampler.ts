import type { Log } from '../process/log.ts';

/** Lines of its own that a reason and network gets in a window. */
const linesEach = 10;
/** Pairs that are told apart in a window; further networks are counted together. */
const maxPairs = 100;
const windowMs = 60_000;

/** Bounds the lines that callers who are refused, or fail, again and again can have written. */
export type RefusalSampler = ReturnType<typeof createRefusalSampler>;

interface RefusalSamplerOptions {
  /** The field with the source in the lines that count. */
  sourceField?: string;
  /** The message of these lines. */
  message?: string;
}

interface Pair {
  reason: string;
  source: string;
  count: number;
}

/**
 * Lets the first ten refusals of each minute with the same reason and source pass. The others are counted, and each
 * minute, and on disposal, one line for each pair says how many they were.
 */
export const createRefusalSampler = (
  log: Log,
  { sourceField = 'network', message = 'repeated refusals' }: RefusalSamplerOptions = {},
) => {
  const pairs = new Map<string, Pair>();
  const report = (): void => {
    for (const pair of pairs.values()) {
      const count = pair.count - linesEach;
      if (count > 0) log.warn({ reason: pair.reason, [sourceField]: pair.source, count }, message);
    }
    pairs.clear();
  };
  const timer = setInterval(report, windowMs).unref();
  return {
    /**
     * Counts a refusal, and returns whether it gets a line of its own. `reason` must be one of few texts, none of them from
     * the request; `source` is the network of the client (`networkOf`), or another name of who caused it.
     */
    sample: (reason: string, source: string): boolean => {
      const find = (by: string): Pair | undefined => pairs.get(`${by} ${reason}`);
      const from = find(source) === undefined && pairs.size >= maxPairs ? 'others' : source;
      const pair = find(from) ?? { reason, source: from, count: 0 };
      pair.count += 1;
      pairs.set(`${from} ${reason}`, pair);
      return pair.count <= linesEach;
    },
    [Symbol.dispose]: (): void => {
      clearInterval(timer);
      report();
    },
  };
};
