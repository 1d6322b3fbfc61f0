export const maxAttempts = 10;

const ceilingMs = 300_000;

/**
 * Milliseconds until the next try after `attempts` failures: doubling, at most five minutes, half
 * of it by chance so that what failed together does not come back together.
 */
export const backoff = (attempts: number, baseMs: number, chance = Math.random()): number => {
  const full = Math.min(baseMs * 2 ** (attempts - 1), ceilingMs);
  return Math.round(full / 2 + (full / 2) * chance);
};
