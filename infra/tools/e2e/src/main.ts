import { runProgram, UsageError } from '@platform/program';
import { parseArgs } from 'node:util';
import { findFailures } from './load.ts';
import { runDayLocally } from './local-day.ts';
import { restartUnderLoad } from './restarts.ts';

const usage = `day [--minutes 5]: runs the end-to-end test for as long as you like
restarts [--connections 8]: restarts every service under load and counts failed requests`;

const say = (line: string): void =>
  void process.stdout.write(`${(performance.now() / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);

const day = async (minutes: number): Promise<string[]> => {
  const { crashes, results, faults } = await runDayLocally(minutes, say);
  for (const [name, { steps, interrupted }] of Object.entries(results))
    say(`${name}: ${steps} steps, ${interrupted} interrupted`);
  say(`killed: ${JSON.stringify(crashes)}`);
  if (faults.length === 0) say('everything acknowledged is there, and no secret is in any log');
  return faults;
};

const restarts = async (connections: number): Promise<string[]> => {
  const { sent, restarts: counts, errors } = await restartUnderLoad(connections, 2);
  for (const [service, { requests, failures }] of Object.entries(sent))
    say(`${service}: ${requests} requests, ${failures.length} failed, ${counts[service]} restarts`);
  return [...findFailures(sent), ...errors];
};

await runProgram(usage, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      minutes: { type: 'string', default: '5' },
      connections: { type: 'string', default: '8' },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes >= 0)) throw new UsageError(`--minutes must be a number, not "${values.minutes}"`);
  const faults = await (positionals[0] === 'restarts' ? restarts(Number(values.connections)) : day(minutes));
  for (const fault of faults) say(`  ${fault}`);
  if (faults.length > 0) say(`${faults.length} faults`);
  return faults.length === 0 ? 0 : 1;
});
