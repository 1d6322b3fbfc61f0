import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isTransient } from './wait.ts';

/** A simulated user that remembers what the platform has acknowledged. */
export interface Actor {
  name: string;
  /** Pause between two steps, in milliseconds. */
  pace: number;
  step: () => Promise<void>;
  /** Called after the last crash; returns the differences from what was acknowledged, one line each. */
  verify: () => Promise<string[]>;
  /** Values that no log may contain. */
  secrets?: () => string[];
}

export interface Result {
  steps: number;
  /** Steps that a crash interrupted. */
  interrupted: number;
  /** Errors that no crash explains. */
  faults: string[];
}

/** Repeats the steps of an actor until the signal is aborted. */
export const runActor = async ({ name, pace, step }: Actor, end: AbortSignal): Promise<Result> => {
  const result: Result = { steps: 0, interrupted: 0, faults: [] };
  while (!end.aborted) {
    try {
      await step();
      result.steps += 1;
    } catch (error) {
      if (isTransient(error)) result.interrupted += 1;
      else result.faults.push(`${name}: ${String(error)}`);
    }
    await sleep(pace);
  }
  return result;
};

/** Returns one line for each record that is not stored as it was acknowledged. */
export const findDifferences = <Value>(
  recordType: string,
  acknowledged: ReadonlyMap<string, Value>,
  stored: ReadonlyMap<string, Value>,
): string[] => {
  const differences: string[] = [];
  for (const [id, expected] of acknowledged) {
    const actual = stored.get(id);
    if (isDeepStrictEqual(actual, expected)) continue;
    const text = JSON.stringify(actual) ?? 'missing';
    differences.push(`${recordType} ${id} is ${text} instead of ${JSON.stringify(expected)}`);
  }
  return differences;
};
