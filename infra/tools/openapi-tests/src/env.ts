const number = (name: string, fallback: number): number => {
  const text = process.env[name];
  const parsed = text ? Number(text) : fallback;
  if (Number.isSafeInteger(parsed)) return parsed;
  throw new Error(`${name} must be a whole number, not "${text}"`);
};

/**
 * Seed and number of runs per operation. The default seed is fixed, so that a failure is caused by a change and not by
 * chance; use other seeds to search for faults (README.md).
 */
export const runSettings = () => ({ seed: number('EXERCISE_SEED', 1), runs: number('EXERCISE_RUNS', 40) });
