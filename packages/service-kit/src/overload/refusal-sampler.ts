import type { Log } from '../process/log.ts';

/** Refusals of each reason and source that are logged individually in a window. */
const linesPerPair = 10;
/** Maximum number of pairs in a window; refusals of further sources are counted together as `others`. */
const maxPairs = 100;
const windowMs = 60_000;

/** Bounds the log lines that callers can cause by repeated refusals or failures. */
export type RefusalSampler = ReturnType<typeof createRefusalSampler>;

interface RefusalSamplerOptions {
  /** Name of the field with the source in the summary lines. */
  sourceField?: string;
  /** The message of the summary lines. */
  message?: string;
}

interface Pair {
  reason: string;
  source: string;
  count: number;
}

/**
 * Creates a sampler that allows a log line for the first ten refusals of each minute with the same reason and source. It counts
 * the others and logs one summary line for each pair, every minute and on disposal.
 */
export const createRefusalSampler = (
  log: Log,
  { sourceField = 'network', message = 'repeated refusals' }: RefusalSamplerOptions = {},
) => {
  const pairs = new Map<string, Pair>();
  const report = (): void => {
    for (const pair of pairs.values()) {
      const count = pair.count - linesPerPair;
      if (count > 0) log.warn({ reason: pair.reason, [sourceField]: pair.source, count }, message);
    }
    pairs.clear();
  };
  const timer = setInterval(report, windowMs).unref();
  return {
    /**
     * Counts a refusal, and returns whether to log it individually. `reason` must be one of few texts and must not come from the
     * request; `source` is the client's network (`networkOf`) or another name of whoever caused it.
     */
    sample: (reason: string, source: string): boolean => {
      const find = (name: string): Pair | undefined => pairs.get(`${name} ${reason}`);
      const sourceName = find(source) === undefined && pairs.size >= maxPairs ? 'others' : source;
      const pair = find(sourceName) ?? { reason, source: sourceName, count: 0 };
      pair.count += 1;
      pairs.set(`${sourceName} ${reason}`, pair);
      return pair.count <= linesPerPair;
    },
    [Symbol.dispose]: (): void => {
      clearInterval(timer);
      report();
    },
  };
};
