import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

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

const file = new URL('../../../../docs/benchmarks.md', import.meta.url);

const shown = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

const perSecond = (values: readonly number[]): string => {
  const value = median(values);
  return `${value < 100 ? shown(value) : Math.round(value).toLocaleString('en')}/s`;
};

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const row = ({ what, rates, bound, samples, note }: Figure): string => {
  const value = median(samples);
  const spread = `${shown(Math.min(...samples))}–${shown(Math.max(...samples))}`;
  const verdict = bound.holds(value) ? 'holds' : '**missed**';
  const compared = rates && `${perSecond(rates.ours)} against ${perSecond(rates.baseline)}`;
  const notes = [compared, note].filter((text) => text !== undefined).join('; ');
  return line([what, bound.text, `${shown(value)} ${bound.unit}`, spread, verdict, notes]);
};

const head = ['what', 'bound', 'median', 'min–max', '', 'note'];

/** The figures as a Markdown table. Where two rates are compared, the note has ours against the baseline. */
export const table = (figures: readonly Figure[]): string =>
  [line(head), line(head.map(() => '---')), ...figures.map(row), ''].join('\n');

/** The machine, and how busy it is now. */
export const machine = (): string => {
  const [cpu] = cpus();
  const [busy = Number.NaN] = loadavg();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model ?? 'CPU'}, ${memory} GiB, Node ${process.version}, load average ${busy.toFixed(1)} before`;
};

/** Replaces a topic's table in docs/benchmarks.md, or appends it. `about` is printed above it. */
export const writeReport = (name: string, title: string, about: string, figures: readonly Figure[]): void => {
  const text = readFileSync(file, 'utf8');
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const section = `${start}\n\n## ${title}\n\n${about}\n\n${table(figures)}\n${end}`;
  const at = text.indexOf(start);
  const after = text.slice(text.indexOf(end) + end.length);
  writeFileSync(file, at === -1 ? `${text.trimEnd()}\n\n${section}\n` : text.slice(0, at) + section + after);
};

/** Replaces the rows of a part in its topic's table, matched by their first column. */
export const updateReport = (name: string, figures: readonly Figure[]): void => {
  const text = readFileSync(file, 'utf8');
  const start = text.indexOf(`<!-- ${name} -->`);
  const end = text.indexOf(`<!-- /${name} -->`);
  if (start === -1)
    throw new Error(`docs/benchmarks.md has no section ${name} yet: run the whole topic first.`);
  const lines = text.slice(start, end).trimEnd().split('\n');
  for (const figure of figures) {
    const at = lines.findIndex((text) => text.startsWith(`| ${figure.what} |`));
    lines.splice(at === -1 ? lines.length : at, at === -1 ? 0 : 1, row(figure));
  }
  writeFileSync(file, `${text.slice(0, start)}${lines.join('\n')}\n\n${text.slice(end)}`);
};
