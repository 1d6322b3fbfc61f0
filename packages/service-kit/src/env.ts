import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Settings that every service has; a service spreads them into its own schema. */
export const commonEnv = {
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65535),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  DATABASE_POOL: z.coerce.number().int().min(1).max(200).default(10),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** Addresses of the gateway, comma separated; only their X-Forwarded-For is believed. */
  TRUST_PROXY: z.string().default('127.0.0.1,::1'),
  RATE_LIMIT: z.enum(['on', 'off']).default('on'),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(12_000),
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(0).default(9000),
};

/** Where access tokens come from; spread by services that take them. */
export const tokenEnv = {
  /** URL of an OIDC provider's JWKS, or a file. */
  AUTH_JWKS: z.string().min(1),
  AUTH_ISSUER: z.string().min(1),
  AUTH_AUDIENCE: z.string().min(1),
};

type Variables = Record<string, string | undefined>;

/** `NAME_FILE` stands in for `NAME`, as container platforms mount secrets; an empty value counts as absent. */
const valueOf = (variables: Variables, name: string): string | undefined => {
  const file = variables[`${name}_FILE`];
  const value = file === undefined || file === '' ? variables[name] : readFileSync(file, 'utf8').trimEnd();
  return value === '' ? undefined : value;
};

/**
 * Reads a service's settings. Throws an Error that names every variable that is missing or wrong,
 * never its value.
 */
export const readEnv = <Shape extends z.ZodRawShape>(
  shape: Shape,
  variables: Variables,
): z.output<z.ZodObject<Shape>> => {
  const given = Object.fromEntries(Object.keys(shape).map((name) => [name, valueOf(variables, name)]));
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
  throw new Error(`The environment is not usable:\n${problems.join('\n')}`);
};
