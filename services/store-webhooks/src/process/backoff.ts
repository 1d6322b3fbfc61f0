const ceilingMs = 3_600_000;

const fullWait = (attempts: number, baseMs: number): number =>
  Math.min(baseMs * 2 ** (attempts - 1), ceilingMs);

/**
 * Milliseconds until the next attempt after `attempts` failures: doubles each time up to an hour.
 * Half of it is random, so that events that failed together are not retried together.
 */
export const backoff = (attempts: number, baseMs: number, chance = Math.random()): number => {
  const full = fullWait(attempts, baseMs);
  return Math.round(full / 2 + (full / 2) * chance);
};

/** Number of attempts whose waits add up to `hours` on average. */
export const attemptsWithin = (hours: number, baseMs: number): number => {
  let attempts = 1;
  for (let waited = 0; waited < hours * ceilingMs; attempts++) waited += 0.75 * fullWait(attempts, baseMs);
  return attempts;
};

/**
 * Milliseconds until an event is tried again whose provider was not asked, because it failed repeatedly. Grows with the
 * time that the event has waited for it, up to an hour.
 */
export const pauseAfter = (waitedMs: number, leastMs: number, chance = Math.random()): number =>
  Math.round(Math.max(leastMs, Math.min(waitedMs / 4, ceilingMs) * (0.5 + chance / 2)));

/** An event with which this many workers died in a row is not tried again. */
export const maxCrashes = 10;
