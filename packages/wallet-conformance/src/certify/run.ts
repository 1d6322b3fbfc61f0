import { setTimeout as sleep } from 'node:timers/promises';
import { attacks } from './cases/attacks.ts';
import { edgeCases } from './cases/edge-cases.ts';
import { errors } from './cases/errors.ts';
import { happyPath } from './cases/happy-path.ts';
import { hmac } from './cases/hmac.ts';
import { idempotency } from './cases/idempotency.ts';
import { races } from './cases/races.ts';
import type { Group } from './expect.ts';
import { openWallet, type Target } from './wallet.ts';

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
