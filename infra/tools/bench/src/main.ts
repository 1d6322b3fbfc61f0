import { readdirSync } from 'node:fs';
import { runProgram, UsageError } from '@platform/program';
import { parseArgs } from 'node:util';
import { describeMachine, formatTable, median, updateReport, writeReport, type Topic } from './figure.ts';
import { startedServices } from './service.ts';

const folder = new URL('topics/', import.meta.url);
const topics = readdirSync(folder).map((file) => file.replace('.ts', ''));
const usage = `bench [--seconds N] [TOPIC[:PART] …]: measures, prints a table and writes it to docs/benchmarks.md
Without names it runs every topic, one after the other. Exit code 1: a bound is missed.
Topics: ${topics.join(', ')}`;

await runProgram(usage, async (args) => {
  const { values, positionals: selected } = parseArgs({
    args,
    allowPositionals: true,
    options: { seconds: { type: 'string' } },
  });
  const options = values.seconds === undefined ? {} : { seconds: Number(values.seconds) };
  const unknown = selected.filter((name) => !topics.includes(name.split(':', 1)[0] ?? ''));
  if (unknown.length > 0)
    throw new UsageError(`Unknown topic: ${unknown.join(', ')}; choose from ${topics.join(', ')}`);

  await using _services = startedServices;
  for (const selector of selected.length > 0 ? selected : topics) {
    const [name = '', partName] = selector.split(':');
    const { topic } = (await import(new URL(`${name}.ts`, folder).href)) as { topic: Topic };
    const command = `pnpm bench ${selector}${values.seconds ? ` --seconds ${values.seconds}` : ''}`;
    process.stdout.write(`\n${topic.title} (${command})\n`);
    const partNames = Object.keys(topic.parts).filter((part) => partName === undefined || part === partName);
    if (partNames.length === 0)
      throw new UsageError(`Unknown part: ${partName}; choose from ${Object.keys(topic.parts).join(', ')}`);
    const about = `\`${command}\`, ${new Date().toISOString().slice(0, 10)}, ${describeMachine()}`;
    const figures = [];
    for (const part of partNames) figures.push(...((await topic.parts[part]?.(options)) ?? []));
    process.stdout.write(formatTable(figures));
    if (partName === undefined) writeReport(name, topic.title, about, figures);
    else updateReport(name, figures);
    if (figures.some(({ bound, samples }) => !bound.holds(median(samples)))) process.exitCode = 1;
  }
});
