/**
 * Limits of every test, hook and `expect.poll`, to be spread into the `test` of a vitest.config.ts. Only what hangs
 * reaches them, also on a machine that is ten times slower: no test may depend on speed.
 */
export const testLimits = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};
