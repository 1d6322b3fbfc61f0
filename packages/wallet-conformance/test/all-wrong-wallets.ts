/**
 * `node test/all-wrong-wallets.ts [RUNS] [SEED]`: certifies and records each wrong wallet once, and records the right
 * wallet RUNS times (50), all with default options. Exit code 1 when a fault was not found or the right wallet was accused.
 */
import { randomInt } from 'node:crypto';
import { complain, say } from '@platform/program/terminal';
import { faults } from './faults.ts';
import { findFault, recordRightWallet } from './wrong-wallets.ts';

const runs = Number(process.argv[2] ?? 50);
const firstSeed = Number(process.argv[3] ?? randomInt(2 ** 31));
say(`seed ${firstSeed}`);

/** The wallets mostly wait, so that several can be judged at the same time. */
const atOnce = 12;
const inTurns = async (jobs: (() => Promise<void>)[]): Promise<void> => {
  const queue = jobs.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const job of queue) await job();
    }),
  );
};

const wrong: string[] = [];
await inTurns(
  faults.map((fault, at) => async () => {
    const { cases, violations } = await findFault(fault, firstSeed + at);
    const isFound = cases.length > 0 || violations > 0;
    if (!isFound) wrong.push(`not found: ${fault}, seed ${firstSeed + at}`);
    say(`${isFound ? '✓' : '✗'} ${fault}: ${cases.length} cases, ${violations} violations`);
  }),
);
let [calls, histories, notJudged] = [0, 0, 0];
await inTurns(
  Array.from({ length: runs }, (_, run) => async () => {
    const verdict = await recordRightWallet(firstSeed + run);
    calls += verdict.calls;
    histories += verdict.histories;
    notJudged += verdict.unusable.length;
    if (verdict.violations.length > 0) wrong.push(`accused: the right wallet, seed ${firstSeed + run}`);
    for (const reason of verdict.unusable) say(`not judged, seed ${firstSeed + run}: ${reason}`);
  }),
);
say(`right wallet: ${runs} runs, ${histories} histories, ${calls} calls, ${notJudged} not judged`);
for (const line of wrong) complain(line);
process.exitCode = wrong.length > 0 ? 1 : 0;
