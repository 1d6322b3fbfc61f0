const hourMs = 3_600_000;

const maxDelay = (attempts: number, baseMs: number): number => Math.min(baseMs * 2 ** (attempts - 1), hourMs);

/**
 * Milliseconds until the next attempt after `attempts` failures. Doubles each time, up to an hour. Half of it is random, so
 * that work that failed together is not retried together.
 */
export const backoff = (attempts: number, baseMs: number, random = Math.random()): number => {
  const full = maxDelay(attempts, baseMs);
  return Math.round(full / 2 + (full / 2) * random);
};

/** Number of attempts whose delays add up to `hours` on average. */
export const attemptsWithin = (hours: number, baseMs: number): number => {
  let attempts = 1;
  for (let delay = 0; delay < hours * hourMs; attempts++) delay += 0.75 * maxDelay(attempts, baseMs);
  return attempts;
};
