/** `pnpm --filter @platform/e2e day --minutes 30`: runs the end-to-end test for as long as you like. */
import { parseArgs } from 'node:util';
import { runDayLocally } from './local-day.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '5' } } });
const minutes = Number(values.minutes);
if (!(minutes >= 0)) throw new Error(`--minutes must be a number, not "${values.minutes}"`);

const say = (line: string): void =>
  void process.stdout.write(`${(performance.now() / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);
const { crashes, results, faults } = await runDayLocally(minutes, say);
for (const [name, { steps, interrupted }] of Object.entries(results)) {
  say(`${name}: ${steps} steps, ${interrupted} interrupted`);
}
say(`killed: ${JSON.stringify(crashes)}`);
for (const fault of faults) say(`  ${fault}`);
say(
  faults.length === 0
    ? 'everything acknowledged is there, and no secret is in any log'
    : `${faults.length} faults`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
