export const maxAttempts = 10;

const ceilingMs = 300_000;

/**
 * Milliseconds until the next attempt after `attempts` failures: doubles each time up to five minutes.
 * Half of it is random, so that events that failed together are not retried together.
 */
export const backoff = (attempts: number, baseMs: number, chance = Math.random()): number => {
  const full = Math.min(baseMs * 2 ** (attempts - 1), ceilingMs);
  return Math.round(full / 2 + (full / 2) * chance);
};
