/**
 * Types of what the set-up gives to tests through vitest's `inject`.
 * Seen by a package whose tests contain: import type {} from "@platform/local/provided".
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
  }
}
