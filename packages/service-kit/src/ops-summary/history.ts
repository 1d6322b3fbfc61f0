import { createHistogram } from 'node:perf_hooks';

/** Length of a step in ms, and the number of steps in half an hour. */
const stepMs = 10_000;
const maxPoints = 180;
/** Maximum duration in microseconds, because the histogram needs a bound. Longer durations count as this. */
const maxDuration = 60_000_000;

/** The traffic of one step. */
export interface Point {
  /** End of the step, ISO 8601; a multiple of 10 s, so that points of several processes have the same times. */
  at: string;
  requestsPerSecond: number;
  /** Responses with a status of 500 or more. */
  errorsPerSecond: number;
  /** 99th percentile of the response time, in ms; null if there were no requests. */
  p99Ms: number | null;
}

/** Records the traffic of this process over the last half hour. */
export const createHistory = () => {
  const startedAt = new Date();
  const currentStep = (): number => Math.floor(Date.now() / stepMs);
  const durations = createHistogram({ lowest: 1, highest: maxDuration, figures: 3 });
  const points: Point[] = [];
  let step = currentStep();
  let [errors, refused] = [0, 0];

  const endStep = (): void => {
    const perSecond = 1000 / stepMs;
    step += 1;
    points.push({
      at: new Date(step * stepMs).toISOString(),
      requestsPerSecond: (durations.count + refused) * perSecond,
      errorsPerSecond: (errors + refused) * perSecond,
      p99Ms: durations.count === 0 ? null : durations.percentile(99) / 1000,
    });
    if (points.length > maxPoints) points.shift();
    durations.reset();
    [errors, refused] = [0, 0];
  };
  const endPastSteps = (): void => {
    const current = currentStep();
    if (Math.abs(current - step) > maxPoints) {
      // After a long idle time or a jump of the clock, ending millions of steps would block the process.
      points.length = 0;
      durations.reset();
      [errors, refused] = [0, 0];
      step = current - maxPoints;
    }
    while (step < current) endStep();
  };
  return {
    startedAt,
    /** Counts an answered request that took `ms`. */
    add: (status: number, ms: number): void => {
      endPastSteps();
      durations.record(Math.min(Math.max(1, Math.round(ms * 1000)), maxDuration));
      if (status >= 500) errors += 1;
    },
    /** Counts a request that was refused with 503. Its duration is not recorded, because refusing is fast. */
    addRefused: (): void => {
      endPastSteps();
      refused += 1;
    },
    /** The completed steps, oldest first. */
    points: (): Point[] => {
      endPastSteps();
      return points;
    },
  };
};
