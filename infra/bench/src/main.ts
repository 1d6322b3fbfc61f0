/**
 * `pnpm bench [topic …]`: measures, prints a table, and writes it into docs/benchmarks.md.
 * Without names it runs every topic, one after the other. Exit code 1 when a bound is missed.
 */
import { readdirSync } from 'node:fs';
import { writeReport, table } from './report.ts';
import { median, type Topic } from './figure.ts';

const folder = new URL('topics/', import.meta.url);
const all = readdirSync(folder).map((file) => file.replace('.ts', ''));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`No such topic: ${unknown.join(', ')}; there are ${all.join(', ')}`);

for (const name of wanted.length > 0 ? wanted : all) {
  const { topic } = (await import(new URL(`${name}.ts`, folder).href)) as { topic: Topic };
  process.stdout.write(`\n${topic.title} (pnpm bench ${name})\n`);
  const figures = await topic.measure();
  process.stdout.write(table(figures));
  writeReport(name, topic.title, figures);
  if (figures.some(({ holds, samples }) => !holds(median(samples)))) process.exitCode = 1;
}
