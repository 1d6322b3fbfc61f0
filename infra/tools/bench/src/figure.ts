/** One row of docs/benchmarks.md: a measurement and its bound. */
export interface Figure {
  what: string;
  /** The bound as text: `≤ 1.5 ×`. */
  bound: string;
  /** One value per run; the median is compared with the bound. */
  samples: number[];
  unit: '×' | 'ms' | '/s' | 's' | 'MB' | 'requests';
  holds: (median: number) => boolean;
  /** For a ratio of two rates: what was measured of both, per second. */
  rates?: { ours: number[]; baseline: number[] };
  /** Context of the number: absolute values, sizes, the baseline. */
  note?: string;
}

export interface MeasureOptions {
  /** Length of a measurement, where the topic lets it be chosen (`--seconds`). */
  seconds?: number;
}

/** A topic measures one service or package. It starts what it needs and stops it afterwards. */
export interface Topic {
  title: string;
  measure: (options: MeasureOptions) => Promise<Figure[]>;
  /** Parts that can be measured alone, by name: `pnpm bench topic:part`. */
  parts?: Record<string, (options: MeasureOptions) => Promise<Figure[]>>;
}

export const median = (samples: readonly number[]): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

export const percentile = (samples: readonly number[], share: number): number =>
  samples.toSorted((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * share))] ??
  Number.NaN;

/** Runs `measure` sequentially `times` times. */
export const repeat = async <T>(times: number, measure: (run: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  for (let run = 0; run < times; run++) results.push(await measure(run));
  return results;
};
