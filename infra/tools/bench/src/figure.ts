/** Figures of docs/benchmarks.md, and the one way in which two things are compared. */

type Unit = '×' | 'ms';

/** What a median must be. */
export interface Bound {
  /** `≤ 1.5 ×` */
  text: string;
  unit: Unit;
  holds: (median: number) => boolean;
}

export const atMost = (most: number, unit: Unit): Bound => ({
  text: `≤ ${most.toLocaleString('en')} ${unit}`,
  unit,
  holds: (value) => value <= most,
});

export const atLeast = (least: number, unit: Unit): Bound => ({
  text: `≥ ${least.toLocaleString('en')} ${unit}`,
  unit,
  holds: (value) => value >= least,
});

/** One row of docs/benchmarks.md. */
export interface Figure {
  what: string;
  bound: Bound;
  /** One value per run; the median is compared with the bound. */
  samples: number[];
  /** For a ratio of two rates: both, per second. */
  rates?: Rates;
  /** Context of the number: absolute values, sizes, the baseline. */
  note?: string;
}

export interface MeasureOptions {
  /** Length of one measurement (`--seconds`), where a part lets it be chosen. */
  seconds?: number;
}

type Part = (options: MeasureOptions) => Promise<Figure[]>;

/** A topic is a list of parts, each of which can be measured alone. A part starts what it needs, and stops it. */
export interface Topic {
  title: string;
  /** By name, in the order of the table: `pnpm bench topic:part`. */
  parts: Record<string, Part>;
}

export const median = (samples: readonly number[]): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

export const p99 = (samples: readonly number[]): number =>
  samples.toSorted((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * 0.99))] ??
  Number.NaN;

/** Runs `measure` sequentially `times` times. */
export const repeat = async <T>(times: number, measure: (run: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  for (let run = 0; run < times; run++) results.push(await measure(run));
  return results;
};

/** Rates per second, one of each a round. */
export interface Rates {
  ours: number[];
  baseline: number[];
}

interface Compared {
  what: string;
  bound: Bound;
  /** Each measures once and returns a rate per second. */
  ours: () => Promise<number>;
  baseline: () => Promise<number>;
  /** Rounds that do not count: V8 optimises a hot path for longer than one measurement takes. */
  warmUp?: number;
  rounds?: number;
  note?: string;
}

/**
 * The ratio of two rates. Both are warmed up, then measured in turns, and the first of a round is the second of the
 * next, so that a slow minute of the machine is slow for both.
 */
export const compare = async ({
  what,
  bound,
  ours,
  baseline,
  warmUp = 2,
  rounds = 5,
  note,
}: Compared): Promise<Figure> => {
  const rates: Rates = { ours: [], baseline: [] };
  for (let round = -warmUp; round < rounds; round++) {
    const turns = [
      async () => rates.ours.push(await ours()),
      async () => rates.baseline.push(await baseline()),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  for (const list of Object.values(rates)) list.splice(0, warmUp);
  const samples = rates.ours.map((rate, round) => rate / (rates.baseline[round] ?? Number.NaN));
  return { what, bound, samples, rates, ...(note !== undefined && { note }) };
};
