const value = (name: string): string | undefined => process.env[name] || undefined;

const number = (name: string, preset: number): number => {
  const given = Number(value(name) ?? preset);
  if (Number.isSafeInteger(given)) return given;
  throw new Error(`${name} must be a whole number, not "${value(name)}"`);
};

/**
 * How much is tried. The same seed tries the same, so that a test run says something about what changed and not about
 * luck; other seeds are for people who look for faults (README.md).
 */
export const effort = () => ({ seed: number('EXERCISE_SEED', 1), runs: number('EXERCISE_RUNS', 40) });
