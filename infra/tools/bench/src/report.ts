import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { median, type Figure } from './figure.ts';

const file = new URL('../../../../docs/benchmarks.md', import.meta.url);

const shown = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

const perSecond = (values: readonly number[] | undefined): string =>
  values === undefined ? '–' : `${Math.round(median(values)).toLocaleString('en')}/s`;

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const row = ({ what, rates, bound, samples, unit, holds, note }: Figure, compared: boolean): string => {
  const value = median(samples);
  return line([
    what,
    ...(compared ? [perSecond(rates?.ours), perSecond(rates?.baseline)] : []),
    bound,
    `${shown(value)} ${unit}`,
    `${shown(Math.min(...samples))}–${shown(Math.max(...samples))}`,
    holds(value) ? 'holds' : '**missed**',
    note ?? '',
  ]);
};

const isCompared = ({ rates }: Figure): boolean => rates !== undefined;

/** The figures as a Markdown table: bound, median, spread over the runs; with both rates where rates are compared. */
export const table = (figures: readonly Figure[]): string => {
  const compared = figures.some(isCompared);
  const head = ['what', ...(compared ? ['ours', 'baseline'] : []), 'bound', 'median', 'spread', '', 'note'];
  const rows = figures.map((figure) => row(figure, compared));
  return [line(head), line(head.map(() => '---')), ...rows, ''].join('\n');
};

const machine = (): string => {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model ?? 'CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, load from wrk`;
};

/** Replaces a topic's table in docs/benchmarks.md, or appends it. */
export const writeReport = (
  name: string,
  title: string,
  command: string,
  figures: readonly Figure[],
): void => {
  const text = readFileSync(file, 'utf8');
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const date = new Date().toISOString().slice(0, 10);
  const section = `${start}\n\n## ${title}\n\n\`${command}\`, ${date}, ${machine()}\n\n${table(figures)}\n${end}`;
  const at = text.indexOf(start);
  const after = text.indexOf(end);
  writeFileSync(
    file,
    at === -1
      ? `${text.trimEnd()}\n\n${section}\n`
      : text.slice(0, at) + section + text.slice(after + end.length),
  );
};

/** Replaces the rows of a part in its topic's table, matched by their first column. */
export const updateReport = (name: string, figures: readonly Figure[]): void => {
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf(`<!-- /${name} -->`);
  const start = text.indexOf(`<!-- ${name} -->`);
  if (start === -1)
    throw new Error(`docs/benchmarks.md has no section ${name} yet: run the whole topic first.`);
  const lines = text.slice(start, end).trimEnd().split('\n');
  const compared = lines.some((text) => text.startsWith('| what | ours |'));
  for (const figure of figures) {
    const at = lines.findIndex((text) => text.startsWith(`| ${figure.what} |`));
    lines.splice(at === -1 ? lines.length : at, at === -1 ? 0 : 1, row(figure, compared));
  }
  writeFileSync(file, `${text.slice(0, start)}${lines.join('\n')}\n\n${text.slice(end)}`);
};
