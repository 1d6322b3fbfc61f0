import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

type Unit = '×' | 'ms';

/** A limit for the median. */
export interface Bound {
  /** `≤ 1.5 ×` */
  text: string;
  unit: Unit;
  holds: (median: number) => boolean;
}

export const atMost = (limit: number, unit: Unit): Bound => ({
  text: `≤ ${limit.toLocaleString('en')} ${unit}`,
  unit,
  holds: (value) => value <= limit,
});

export const atLeast = (limit: number, unit: Unit): Bound => ({
  text: `≥ ${limit.toLocaleString('en')} ${unit}`,
  unit,
  holds: (value) => value >= limit,
});

/** One row of docs/benchmarks.md. */
export interface Figure {
  /** First column; identifies the row. */
  label: string;
  bound: Bound;
  /** One value per run; the median is compared with the bound. */
  samples: number[];
  /** The two rates of a ratio. */
  rates?: Rates;
  /** Absolute values, sizes, the baseline. */
  note?: string;
}

export interface MeasureOptions {
  /** Length of one measurement (`--seconds`); parts of a fixed length ignore it. */
  seconds?: number;
}

type Part = (options: MeasureOptions) => Promise<Figure[]>;

/** A list of parts that can also be measured separately. Each part starts and stops the programs it needs. */
export interface Topic {
  title: string;
  /** By name (`pnpm bench topic:part`), in the order of the table. */
  parts: Record<string, Part>;
}

export const median = (samples: readonly number[]): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

export const p99 = (samples: readonly number[]): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length * 0.99)] ?? Number.NaN;

/** Runs `measure` sequentially `times` times. */
export const repeat = async <T>(times: number, measure: (run: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  for (let run = 0; run < times; run++) results.push(await measure(run));
  return results;
};

/** Rates per second, one per round. */
export interface Rates {
  ours: number[];
  baseline: number[];
}

interface Comparison {
  label: string;
  bound: Bound;
  /** Each measures once and returns a rate per second. */
  ours: () => Promise<number>;
  baseline: () => Promise<number>;
  /** Rounds whose rates are discarded: V8 still optimises hot paths after the first measurements. */
  warmUp?: number;
  rounds?: number;
  note?: string;
}

/** Measures both rates in each round, in alternating order, so that a slow minute of the machine affects both. */
export const compare = async ({
  label,
  bound,
  ours,
  baseline,
  warmUp = 2,
  rounds = 5,
  note,
}: Comparison): Promise<Figure> => {
  const rates: Rates = { ours: [], baseline: [] };
  for (let round = -warmUp; round < rounds; round++) {
    const measurements = [
      async () => rates.ours.push(await ours()),
      async () => rates.baseline.push(await baseline()),
    ];
    if (round % 2 !== 0) measurements.reverse();
    for (const measure of measurements) await measure();
  }
  rates.ours.splice(0, warmUp);
  rates.baseline.splice(0, warmUp);
  const samples = rates.ours.map((rate, round) => rate / (rates.baseline[round] ?? Number.NaN));
  return { label, bound, samples, rates, ...(note !== undefined && { note }) };
};

const reportFile = new URL('../../../../docs/benchmarks.md', import.meta.url);

const formatNumber = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);

const perSecond = (values: readonly number[]): string => {
  const value = median(values);
  return `${value < 100 ? formatNumber(value) : Math.round(value).toLocaleString('en')}/s`;
};

const formatRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const formatFigure = ({ label, rates, bound, samples, note }: Figure): string => {
  const value = median(samples);
  const spread = `${formatNumber(Math.min(...samples))}–${formatNumber(Math.max(...samples))}`;
  const verdict = bound.holds(value) ? 'holds' : '**missed**';
  const bothRates = rates && `${perSecond(rates.ours)} against ${perSecond(rates.baseline)}`;
  const notes = [bothRates, note].filter((text) => text !== undefined).join('; ');
  return formatRow([label, bound.text, `${formatNumber(value)} ${bound.unit}`, spread, verdict, notes]);
};

const header = ['measurement', 'bound', 'median', 'min–max', '', 'note'];

/** Formats figures as a Markdown table. The note of a comparison begins with both rates. */
export const formatTable = (figures: readonly Figure[]): string =>
  [formatRow(header), formatRow(header.map(() => '---')), ...figures.map(formatFigure), ''].join('\n');

/** Describes the machine and its current load. */
export const describeMachine = (): string => {
  const [cpu] = cpus();
  const [busy = Number.NaN] = loadavg();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model ?? 'CPU'}, ${memory} GiB, Node ${process.version}, load average ${busy.toFixed(1)} before`;
};

/** Replaces a topic's table in docs/benchmarks.md, or appends it. `about` is printed above it. */
export const writeReport = (name: string, title: string, about: string, figures: readonly Figure[]): void => {
  const text = readFileSync(reportFile, 'utf8');
  const [startMark, endMark] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const section = `${startMark}\n\n## ${title}\n\n${about}\n\n${formatTable(figures)}\n${endMark}`;
  const start = text.indexOf(startMark);
  const after = text.slice(text.indexOf(endMark) + endMark.length);
  const newText = start === -1 ? `${text.trimEnd()}\n\n${section}\n` : text.slice(0, start) + section + after;
  writeFileSync(reportFile, newText);
};

/** Replaces the rows of these figures in a topic's table, matched by their labels; appends the missing ones. */
export const updateReport = (name: string, figures: readonly Figure[]): void => {
  const text = readFileSync(reportFile, 'utf8');
  const start = text.indexOf(`<!-- ${name} -->`);
  const end = text.indexOf(`<!-- /${name} -->`);
  if (start === -1)
    throw new Error(`docs/benchmarks.md has no section ${name} yet: run the whole topic first.`);
  const lines = text.slice(start, end).trimEnd().split('\n');
  for (const figure of figures) {
    const index = lines.findIndex((line) => line.startsWith(`| ${figure.label} |`));
    if (index === -1) lines.push(formatFigure(figure));
    else lines[index] = formatFigure(figure);
  }
  writeFileSync(reportFile, `${text.slice(0, start)}${lines.join('\n')}\n\n${text.slice(end)}`);
};
