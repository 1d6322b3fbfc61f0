import { commonEnv, migrationUrlOf, readEnv, tokenEnv } from '@platform/service-kit/env';
import { searchEnv } from '@platform/service-kit/search-lane';
import { z } from 'zod';

const shape = {
  ...commonEnv,
  ...tokenEnv,
  // Kinds of search: with a trigram, which the index can find, or without.
  ...searchEnv,
  /** Maximum number of records that a search without a trigram, which compares each of them, may have to compare. */
  SHORT_SEARCH_MAX_ROWS: z.coerce.number().int().min(1).default(2_000_000),
  /** Maximum number of lines of one import. */
  IMPORT_MAX_LINES: z.coerce.number().int().min(1).default(5_000_000),
  /** Maximum time an import may receive no data, in milliseconds. */
  IMPORT_IDLE_TIMEOUT_MS: z.coerce.number().int().min(1).default(30_000),
};

export const envOf = (variables: Record<string, string | undefined>) => readEnv(shape, variables);

export type Env = ReturnType<typeof envOf>;

/** The settings of this process; read once, in main.ts. */
export const processEnv = () => envOf(process.env);

/** Settings of the demo loader. */
export const demoEnv = () =>
  readEnv({ GATEWAY_URL: z.url(), DEMO_ADMIN_TOKEN: z.string().min(1) }, process.env);

/** Migrations run as the owner of the tables, the service as a role that only reads and writes rows. */
export const migrationUrl = (): string => migrationUrlOf(process.env);

/** Database of the command `drift`. */
export const databaseUrl = (): string =>
  readEnv({ DATABASE_URL: commonEnv.DATABASE_URL }, process.env).DATABASE_URL;
