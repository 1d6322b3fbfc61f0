import { commonEnv, migrationUrlOf, readEnv, tokenEnv } from '@platform/service-kit/env';
import { z } from 'zod';

const shape = { ...commonEnv, ...tokenEnv };

/** Settings of the demo loader. */
const demoShape = { GATEWAY_URL: z.url(), DEMO_ADMIN_TOKEN: z.string().min(1) };

export const envOf = (variables: Record<string, string | undefined>) => readEnv(shape, variables);

export type Env = ReturnType<typeof envOf>;

/** The settings of this process; read once, in main.ts. */
export const processEnv = () => envOf(process.env);

export const demoEnv = () => readEnv(demoShape, process.env);

/** Migrations run as the owner of the tables, the service as a role that only reads and writes rows. */
export const migrationUrl = (): string => migrationUrlOf(process.env);

/** Database of the command `drift`. */
export const databaseUrl = (): string =>
  readEnv({ DATABASE_URL: commonEnv.DATABASE_URL }, process.env).DATABASE_URL;
