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

/** Runs every case against a backend, one after the other. Moves money of the player, and leaves some of it moved. */
export const certify = async (target: Target, onResult?: (result: Result) => void): Promise<Result[]> => {
  const wallet = openWallet(target);
  const results: Result[] = [];
  for (const group of groups) {
    for (const { title, run, applies } of group.cases) {
      if (applies?.(target) === false) continue;
      const start = performance.now();
      const failure = await run(wallet).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      const result = { group: group.title, title, ms: performance.now() - start, failure };
      results.push(result);
      onResult?.(result);
    }
  }
  return results;
};
