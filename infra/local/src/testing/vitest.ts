import type {} from 'vitest';

/**
 * What the set-up provides to tests through vitest's `inject`. A package gets the types with
 * `import type {} from '@platform/local/provided'`.
 */
declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the superuser of an otherwise empty PostgreSQL 18. */
    postgresUrl: string;
    /** URL of a Redis, shared by all test files; null when the machine has none. */
    redisUrl: string | null;
    /** Paths of programs; null when missing. */
    redisServerPath: string | null;
    nginxPath: string | null;
    chromiumPath: string | null;
    promtoolPath: string | null;
  }
}

/**
 * Limits of every test, hook and `expect.poll`, to be spread into the `test` of a vitest.config.ts. Only what hangs
 * reaches them, also on a machine that is ten times slower: no test may depend on speed.
 */
export const testLimits = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};
