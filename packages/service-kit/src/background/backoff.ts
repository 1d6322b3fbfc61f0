const hourMs = 3_600_000;

const fullWait = (attempts: number, baseMs: number): number => Math.min(baseMs * 2 ** (attempts - 1), hourMs);

/**
 * Milliseconds until the next attempt after `attempts` failures: doubles each time up to an hour.
 * Half of it is random, so that work that failed together is not retried together.
 */
export const backoff = (attempts: number, baseMs: number, chance = Math.random()): number => {
  const full = fullWait(attempts, baseMs);
  return Math.round(full / 2 + (full / 2) * chance);
};

/** Number of attempts whose waits add up to `hours` on average. */
export const attemptsWithin = (hours: number, baseMs: number): number => {
  let attempts = 1;
  for (let waited = 0; waited < hours * hourMs; attempts++) waited += 0.75 * fullWait(attempts, baseMs);
  return attempts;
};
