/** One line of docs/benchmarks.md: what was measured, against which bound. */
export interface Figure {
  what: string;
  /** The bound as people read it: `≤ 1.5 ×`. */
  bound: string;
  /** One value a run; the median is what counts. */
  samples: number[];
  unit: '×' | 'ms' | '/s' | 's' | 'MB';
  holds: (median: number) => boolean;
  /** What one should know to read the number. */
  note?: string;
}

/** A topic measures one service or part; it starts what it needs and stops it again. */
export interface Topic {
  title: string;
  measure: () => Promise<Figure[]>;
  /** Parts of it that can be measured alone, by name: `pnpm bench topic:part`. */
  parts?: Record<string, () => Promise<Figure[]>>;
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

/** Runs `measure` `times` times, one after the other. */
export const repeat = async <T>(times: number, measure: (run: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  for (let run = 0; run < times; run++) results.push(await measure(run));
  return results;
};
