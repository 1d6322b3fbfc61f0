import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isTransient } from './wait.ts';

/** A simulated user that remembers what the platform has acknowledged. */
export interface Actor {
  name: string;
  /** Pause between two steps, in milliseconds. */
  pace: number;
  step: () => Promise<void>;
  /** After the last crash: differences from what was acknowledged, one line each. */
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

/** One line for each record that is not stored as it was acknowledged; `record` is its type. */
export const findDifferences = <Value>(
  record: string,
  acknowledged: ReadonlyMap<string, Value>,
  stored: ReadonlyMap<string, Value>,
): string[] =>
  [...acknowledged]
    .filter(([id, value]) => !isDeepStrictEqual(stored.get(id), value))
    .map(
      ([id, value]) =>
        `${record} ${id} is ${JSON.stringify(stored.get(id)) ?? 'missing'} instead of ${JSON.stringify(value)}`,
    );
