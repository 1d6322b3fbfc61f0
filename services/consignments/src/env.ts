import { commonEnv, migrationUrlOf, readEnv, tokenEnv } from '@platform/service-kit/env';
import { z } from 'zod';

const shape = {
  ...commonEnv,
  ...tokenEnv,
  /** Searches that run at once, on connections of their own beside DATABASE_POOL. */
  SEARCH_POOL: z.coerce.number().int().min(1).max(50).default(4),
  /** How long a search may take that the trigram index can serve, waiting included, in milliseconds. */
  SEARCH_TIMEOUT_MS: z.coerce.number().int().min(1).default(2000),
  /** The same for one and two letters, for which every record may have to be looked at. */
  SHORT_SEARCH_TIMEOUT_MS: z.coerce.number().int().min(1).default(230),
  /** Records that a text of one or two letters may be searched in. */
  SHORT_SEARCH_MAX_ROWS: z.coerce.number().int().min(1).default(100_000),
  /** Lines of one import. */
  IMPORT_MAX_LINES: z.coerce.number().int().min(1).default(5_000_000),
  /** How long an import may stand still, in milliseconds. */
  IMPORT_IDLE_TIMEOUT_MS: z.coerce.number().int().min(1).default(30_000),
};

export const envOf = (variables: Record<string, string | undefined>) => readEnv(shape, variables);

export type Env = ReturnType<typeof envOf>;

/** The environment of this process; read once, in main.ts. */
export const processEnv = () => envOf(process.env);

/** What the commands that `demo` prints are made of. */
export const demoEnv = () =>
  readEnv({ GATEWAY_URL: z.url(), DEMO_ADMIN_TOKEN: z.string().min(1) }, process.env);

/** Migrations run as the owner of the tables, the service as a role that only reads and writes rows. */
export const migrationUrl = (): string => migrationUrlOf(process.env);
