/**
 * `node test/all-wrong-wallets.ts [RUNS] [SEED]`: certifies and records each wrong wallet once, and records the right
 * wallet RUNS times (50), all with default options. Exit code 1 when a fault was not found, or a violation was reported for
 * the right wallet.
 */
import { randomInt } from 'node:crypto';
import { complain, say } from '@platform/program/terminal';
import { faults } from './faults.ts';
import { findFault, recordRightWallet } from './wrong-wallets.ts';

const runs = Number(process.argv[2] ?? 50);
const firstSeed = Number(process.argv[3] ?? randomInt(2 ** 31));
say(`seed ${firstSeed}`);

/** The wallets mostly wait, so several can be tested at the same time. */
const concurrency = 12;
const runJobs = async (jobs: (() => Promise<void>)[]): Promise<void> => {
  const queue = jobs.values();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const job of queue) await job();
    }),
  );
};

const failures: string[] = [];
await runJobs(
  faults.map((fault, at) => async () => {
    const { cases, violations } = await findFault(fault, firstSeed + at);
    const isFound = cases.length > 0 || violations > 0;
    if (!isFound) failures.push(`not found: ${fault}, seed ${firstSeed + at}`);
    say(`${isFound ? '✓' : '✗'} ${fault}: ${cases.length} cases, ${violations} violations`);
  }),
);
let [calls, histories, notJudged] = [0, 0, 0];
await runJobs(
  Array.from({ length: runs }, (_, run) => async () => {
    const verdict = await recordRightWallet(firstSeed + run);
    calls += verdict.calls;
    histories += verdict.histories;
    notJudged += verdict.notJudged.length;
    if (verdict.violations.length > 0)
      failures.push(`violation in the right wallet, seed ${firstSeed + run}`);
    for (const reason of verdict.notJudged) say(`not judged, seed ${firstSeed + run}: ${reason}`);
  }),
);
say(`right wallet: ${runs} runs, ${histories} histories, ${calls} calls, ${notJudged} not judged`);
for (const failure of failures) complain(failure);
process.exitCode = failures.length > 0 ? 1 : 0;
