import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from './persist.ts';

/** Somebody who uses the platform all day and remembers what it has acknowledged. */
export interface Actor {
  name: string;
  /** Milliseconds between two steps. */
  pace: number;
  step: () => Promise<void>;
  /** In the evening, when all is quiet: what is not as it was acknowledged, one line each. */
  account: () => Promise<string[]>;
  /** What must stand in no log. */
  secrets?: () => string[];
}

export interface Course {
  steps: number;
  /** Steps that a fault broke off. */
  brokenOff: number;
  /** What no fault excuses. */
  faults: string[];
}

/** Lets an actor go on until the day is over. */
export const live = async ({ name, pace, step }: Actor, over: AbortSignal): Promise<Course> => {
  const course: Course = { steps: 0, brokenOff: 0, faults: [] };
  while (!over.aborted) {
    try {
      await step();
      course.steps += 1;
    } catch (error) {
      if (isPassing(error)) course.brokenOff += 1;
      else course.faults.push(`${name}: ${String(error)}`);
    }
    await sleep(pace);
  }
  return course;
};
