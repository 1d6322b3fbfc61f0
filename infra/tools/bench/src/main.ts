/**
 * `pnpm bench [--seconds N] [topic[:part] …]`: measures, prints a table and writes it to docs/benchmarks.md.
 * Without names it runs every topic, one after the other. Exit code 1 when a bound is missed.
 */
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { table, updateReport, writeReport } from './report.ts';
import { median, type MeasureOptions, type Topic } from './figure.ts';

const folder = new URL('topics/', import.meta.url);
const all = readdirSync(folder).map((file) => file.replace('.ts', ''));
const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string' } },
});
const options: MeasureOptions = values.seconds === undefined ? {} : { seconds: Number(values.seconds) };
const unknown = wanted.filter((name) => !all.includes(name.split(':', 1)[0] ?? ''));
if (unknown.length > 0) throw new Error(`No such topic: ${unknown.join(', ')}; there are ${all.join(', ')}`);

for (const asked of wanted.length > 0 ? wanted : all) {
  const [name = '', part] = asked.split(':');
  const { topic } = (await import(new URL(`${name}.ts`, folder).href)) as { topic: Topic };
  const command = ['pnpm bench', asked, ...(values.seconds ? ['--seconds', values.seconds] : [])].join(' ');
  process.stdout.write(`\n${topic.title} (${command})\n`);
  const measure = part === undefined ? topic.measure : topic.parts?.[part];
  if (measure === undefined)
    throw new Error(`No such part: ${part}; there are ${Object.keys(topic.parts ?? {}).join(', ')}`);
  const figures = await measure(options);
  process.stdout.write(table(figures));
  if (part === undefined) writeReport(name, topic.title, command, figures);
  else updateReport(name, figures);
  if (figures.some(({ holds, samples }) => !holds(median(samples)))) process.exitCode = 1;
}
