const value = (name: string): string | undefined => process.env[name] || undefined;

const number = (name: string, preset: number): number => {
  const parsed = Number(value(name) ?? preset);
  if (Number.isSafeInteger(parsed)) return parsed;
  throw new Error(`${name} must be a whole number, not "${value(name)}"`);
};

/**
 * Seed and number of runs per operation. The default seed is fixed, so that a failure is caused by a change and not by
 * chance; use other seeds to search for faults (README.md).
 */
export const runSettings = () => ({ seed: number('EXERCISE_SEED', 1), runs: number('EXERCISE_RUNS', 40) });
