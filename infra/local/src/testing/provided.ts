/**
 * Types of what the set-up provides to tests through vitest's `inject`. A package gets them with
 * `import type {} from '@platform/local/provided'`.
 */
import 'vitest';

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
