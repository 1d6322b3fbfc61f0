import { setTimeout as sleep } from 'node:timers/promises';
import { escapeXml } from '../xml.ts';
import { attacks, hmac } from './cases/security.ts';
import { edgeCases, happyPath } from './cases/happy-path-and-edge-cases.ts';
import { errors } from './cases/errors.ts';
import { idempotency, races } from './cases/idempotency-and-races.ts';
import type { Case } from './expect.ts';
import { openWallet, type Target } from './wallet.ts';

/** One line of the text report. */
export const resultLine = ({ title, failure }: Result): string =>
  failure === undefined ? `  ✓ ${title}` : `  ✗ ${title}\n      ${failure}`;

export const summary = (results: readonly Result[]): string => {
  const failed = results.filter(({ failure }) => failure !== undefined);
  const verdict =
    failed.length === 0 ? 'the backend keeps the contract' : 'the backend does not keep the contract';
  return `${results.length - failed.length} passed, ${failed.length} failed: ${verdict}`;
};

const testcaseXml = ({ group, title, ms, failure }: Result): string => {
  const head = `    <testcase classname="${escapeXml(group)}" name="${escapeXml(title)}" time="${(ms / 1000).toFixed(3)}"`;
  return failure === undefined
    ? `${head}/>`
    : `${head}><failure message="${escapeXml(failure)}"/></testcase>`;
};

/** The results as JUnit XML, with a test suite per group. */
export const junitXml = (results: readonly Result[]): string => {
  const suites = [...Map.groupBy(results, ({ group }) => group)].map(([group, cases]) => {
    const failures = cases.filter(({ failure }) => failure !== undefined).length;
    return `  <testsuite name="${escapeXml(group)}" tests="${cases.length}" failures="${failures}">\n${cases.map(testcaseXml).join('\n')}\n  </testsuite>`;
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

/** The seven groups in the order in which they run. */
export const groups: readonly { title: string; cases: readonly Case[] }[] = [
  { title: 'Happy path', cases: happyPath },
  { title: 'Idempotency', cases: idempotency },
  { title: 'Errors', cases: errors },
  { title: 'HMAC', cases: hmac },
  { title: 'Attacks', cases: attacks },
  { title: 'Edge cases', cases: edgeCases },
  { title: 'Races', cases: races },
];

/** The group of the two-step cases with a pause between their steps. */
const pauseGroup = 'After a pause';

/**
 * Runs every case against a backend, one after the other. Changes the balance of the player. With `pauseSeconds` the
 * two-step cases run a second time, with at least this pause between their steps.
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

  const pausedCases: { title: string; secondStep: () => Promise<unknown> }[] = [];
  const casesWithPause = pauseSeconds === undefined ? [] : groups.flatMap((group) => group.cases);
  for (const { title, runFirstStep } of casesWithPause) {
    // The error of a first step becomes the result of its second step.
    const secondStep = await runFirstStep?.(wallet).catch((error: unknown) => () => Promise.reject(error));
    if (secondStep !== undefined) pausedCases.push({ title, secondStep });
  }
  const pause = sleep((pauseSeconds ?? 0) * 1000, undefined, { signal: target.deadline }).catch(() => {});
  for (const { title: group, cases } of groups)
    for (const { title, run, applies } of cases)
      if (applies?.(target) !== false) await runCase(group, title, () => run(wallet));
  await pause;
  for (const { title, secondStep } of pausedCases) await runCase(pauseGroup, title, secondStep);
  return results;
};
