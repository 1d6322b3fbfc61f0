import { createHistogram } from 'node:perf_hooks';

/** Length of a step in ms, and how many steps are kept: half an hour. */
const stepMs = 10_000;
const kept = 180;
/** Longer durations count as this; the histogram needs a bound. In microseconds. */
const longest = 60_000_000;

/** The requests of one step. */
export interface Point {
  /** End of the step, ISO 8601; a multiple of 10 s, so that points of several processes have the same times. */
  at: string;
  requestsPerSecond: number;
  /** Answers from 500 up. */
  errorsPerSecond: number;
  /** The time within which 99 of 100 requests were answered, in ms; null when there was none. */
  p99Ms: number | null;
}

/** Traffic of this process over the last half hour. */
export const createHistory = () => {
  const startedAt = new Date();
  const currentStep = (): number => Math.floor(Date.now() / stepMs);
  const durations = createHistogram({ lowest: 1, highest: longest, figures: 3 });
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
    if (points.length > kept) points.shift();
    durations.reset();
    [errors, refused] = [0, 0];
  };
  const endPastSteps = (): void => {
    const current = currentStep();
    if (Math.abs(current - step) > kept) {
      // A long idle time, or the clock has jumped: ending millions of steps would block the process.
      points.length = 0;
      durations.reset();
      [errors, refused] = [0, 0];
      step = current - kept;
    }
    while (step < current) endStep();
  };
  return {
    startedAt,
    /** Counts an answered request; `ms` is how long it took. */
    add: (status: number, ms: number): void => {
      endPastSteps();
      durations.record(Math.min(Math.max(1, Math.round(ms * 1000)), longest));
      if (status >= 500) errors += 1;
    },
    /** Counts a request that was refused with 503; how soon says nothing about the others. */
    addRefused: (): void => {
      endPastSteps();
      refused += 1;
    },
    /** The steps that are over, oldest first. */
    points: (): Point[] => {
      endPastSteps();
      return points;
    },
  };
};
