import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { median, type Figure } from './figure.ts';

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
