import { commonEnv, migrationUrlOf, readEnv, tokenEnv } from '@platform/service-kit/env';
import { z } from 'zod';

const shape = { ...commonEnv, ...tokenEnv };

export const envOf = (variables: Record<string, string | undefined>) => readEnv(shape, variables);

export type Env = ReturnType<typeof envOf>;

/** The settings of this process, read once in main.ts. */
export const processEnv = () => envOf(process.env);

/** Settings for the commands that demo.ts prints. */
export const demoEnv = () => readEnv({ GATEWAY_URL: z.url(), DEMO_ADMIN_TOKEN: z.string() }, process.env);

/** Migrations run as the owner of the tables; the service's own role can only read and write rows. */
export const migrationUrl = (): string => migrationUrlOf(process.env);
