import type {} from 'vitest';

/**
 * Values that setup.ts provides to tests through vitest's `inject`. A package gets the types with
 * `import type {} from '@platform/local/provided'`.
 */
declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the superuser of an otherwise empty PostgreSQL 18. */
    postgresUrl: string;
    /** URL of a Redis that all test files share; null if redis-server is missing. */
    redisUrl: string | null;
    /** Paths of programs; null if missing. */
    redisServerPath: string | null;
    nginxPath: string | null;
    chromiumPath: string | null;
    promtoolPath: string | null;
  }
}

/**
 * Limits of every test, hook and `expect.poll`, for the `test` object of a vitest.config.ts. Only a test that hangs reaches
 * them, even on a machine that is ten times slower: no test may depend on speed.
 */
export const testLimits = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};
