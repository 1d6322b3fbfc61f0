import { commonEnv, migrationUrlOf, readEnv, tokenEnv } from '@platform/service-kit/env';
import { z } from 'zod';

const shape = { ...commonEnv, ...tokenEnv };

export const envOf = (variables: Record<string, string | undefined>) => readEnv(shape, variables);

export type Env = ReturnType<typeof envOf>;

/** The environment of this process; read once, in main.ts. */
export const processEnv = () => envOf(process.env);

/** What the commands that `demo` prints are made of. */
export const demoEnv = () => readEnv({ GATEWAY_URL: z.url(), DEMO_ADMIN_TOKEN: z.string() }, process.env);

/** Migrations run as the owner of the tables, the service as a role that only reads and writes rows. */
export const migrationUrl = (): string => migrationUrlOf(process.env);
