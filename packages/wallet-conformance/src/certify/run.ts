import { setTimeout as sleep } from 'node:timers/promises';
import { escaped } from '../xml.ts';
import { attacks, hmac } from './cases/security.ts';
import { edgeCases, happyPath } from './cases/rules.ts';
import { errors } from './cases/errors.ts';
import { idempotency, races } from './cases/repeats.ts';
import type { Group } from './expect.ts';
import { openWallet, type Target } from './wallet.ts';

/** One line of the readable report. */
export const line = ({ title, failure }: Result): string =>
  failure === undefined ? `  ✓ ${title}` : `  ✗ ${title}\n      ${failure}`;

export const summary = (results: readonly Result[]): string => {
  const failed = results.filter(({ failure }) => failure !== undefined);
  const verdict =
    failed.length === 0 ? 'the backend keeps the contract' : 'the backend does not keep the contract';
  return `${results.length - failed.length} passed, ${failed.length} failed: ${verdict}`;
};

const caseOf = ({ group, title, ms, failure }: Result): string => {
  const head = `    <testcase classname="${escaped(group)}" name="${escaped(title)}" time="${(ms / 1000).toFixed(3)}"`;
  return failure === undefined ? `${head}/>` : `${head}><failure message="${escaped(failure)}"/></testcase>`;
};

/** The results as JUnit XML, one suite for each group. */
export const junit = (results: readonly Result[]): string => {
  const suites = [...Map.groupBy(results, ({ group }) => group)].map(([group, cases]) => {
    const failures = cases.filter(({ failure }) => failure !== undefined).length;
    return `  <testsuite name="${escaped(group)}" tests="${cases.length}" failures="${failures}">\n${cases.map(caseOf).join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="certify">\n${suites.join('\n')}\n</testsuites>\n`;
};

export interface Result {
  group: string;
  title: string;
  ms: number;
  /** The promise that was not kept; undefined when the case passed. */
  failure: string | undefined;
}

/** The seven groups of the kit, in the order they run. */
export const groups: readonly Group[] = [happyPath, idempotency, errors, hmac, attacks, edgeCases, races];

/** The group of the cases with a pause. */
const pauseGroup = 'After a pause';

/**
 * Runs every case against a backend, one after the other. Moves money of the player, and leaves some of it moved. With
 * `pauseSeconds` the cases in steps are tested a second time, with at least this pause between their steps.
 */
export const certify = async (
  target: Target,
  onResult?: (result: Result) => void,
  pauseSeconds?: number,
): Promise<Result[]> => {
  const wallet = openWallet(target);
  const results: Result[] = [];
  const runCase = async (group: string, title: string, run: () => Promise<unknown>): Promise<void> => {
    const start = performance.now();
    const failure = await run().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const result = { group, title, ms: performance.now() - start, failure };
    results.push(result);
    onResult?.(result);
  };

  const begun: { title: string; end: () => Promise<unknown> }[] = [];
  for (const testCase of pauseSeconds === undefined ? [] : groups.flatMap(({ cases }) => cases)) {
    if (!('begin' in testCase)) continue;
    const end = await testCase.begin(wallet).catch((error: unknown) => () => Promise.reject(error));
    begun.push({ title: testCase.title, end });
  }
  const pause = sleep((pauseSeconds ?? 0) * 1000, undefined, { signal: target.deadline }).catch(() => {});
  for (const { title: group, cases } of groups)
    for (const { title, run, applies } of cases)
      if (applies?.(target) !== false) await runCase(group, title, () => run(wallet));
  await pause;
  for (const { title, end } of begun) await runCase(pauseGroup, title, end);
  return results;
};
