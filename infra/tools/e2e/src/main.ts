/**
 * `pnpm --filter @platform/e2e day --minutes 30` runs the end-to-end test for as long as you like; `restarts --connections 16`
 * restarts every service under load and counts failed requests.
 */
import { parseArgs } from 'node:util';
import { findFailures } from './load.ts';
import { runDayLocally } from './local-day.ts';
import { restartUnderLoad } from './restarts.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
  },
});

const say = (line: string): void =>
  void process.stdout.write(`${(performance.now() / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);

const day = async (): Promise<string[]> => {
  const minutes = Number(values.minutes);
  if (!(minutes >= 0)) throw new Error(`--minutes must be a number, not "${values.minutes}"`);
  const { crashes, results, faults } = await runDayLocally(minutes, say);
  for (const [name, { steps, interrupted }] of Object.entries(results))
    say(`${name}: ${steps} steps, ${interrupted} interrupted`);
  say(`killed: ${JSON.stringify(crashes)}`);
  if (faults.length === 0) say('everything acknowledged is there, and no secret is in any log');
  return faults;
};

const restarts = async (): Promise<string[]> => {
  const { sent, restarts: counts, errors } = await restartUnderLoad(Number(values.connections), 2);
  for (const [service, { requests, failures }] of Object.entries(sent))
    say(`${service}: ${requests} requests, ${failures.length} failed, ${counts[service]} restarts`);
  return [...findFailures(sent), ...errors];
};

const faults = await (positionals[0] === 'restarts' ? restarts() : day());
for (const fault of faults) say(`  ${fault}`);
if (faults.length > 0) say(`${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
