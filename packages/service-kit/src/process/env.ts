import { existsSync, readFileSync } from 'node:fs';
import { localStack } from '@platform/program/local-stack';
import { z } from 'zod';
import { inSchema, schemaName } from '../database/schema.ts';
import { SafeError } from './safe-error.ts';
import './validation-messages.ts';

export { tokenEnv, tokenOptions } from './token-env.ts';

/** Settings of tracing, named as in OpenTelemetry. Its SDK reads OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES itself. */
export const traceEnv = {
  /** URL of the collector (OTLP over HTTP). Tracing is off without it. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Headers for the collector: `name=value,…`. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  /** The `parentbased_…` samplers are not offered: they obey the caller's `sampled` flag, so callers could have all requests traced. */
  OTEL_TRACES_SAMPLER: z.enum(['traceidratio', 'always_on', 'always_off']).default('traceidratio'),
  /** Share of traces that `traceidratio` samples, from 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
};

const isOrigin = (text: string): boolean =>
  !text.includes('*') &&
  URL.canParse(text) &&
  /^https?:$/.test(new URL(text).protocol) &&
  new URL(text).origin === text;

/** CORS_ORIGINS: exact origins, comma separated. `*` and `null` are rejected, so that no setting admits every page. */
const corsOrigins = z
  .string()
  .default('')
  .transform((text) => text.split(',').filter((part) => part !== ''))
  .refine(
    (origins) => origins.every(isOrigin),
    'must be origins such as https://app.example.com, comma separated',
  );

/** Settings of all services; each service spreads them into its own schema. */
export const commonEnv = {
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65535),
  /** Extra port for /livez, /readyz and /metrics, which load on PORT does not slow down. Without it only PORT serves them. */
  PROBE_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  /** `production` in the images. In other environments, mistakes that would only be slow in production are errors. */
  NODE_ENV: z.string().optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** `failures` logs only requests with a status of 400 or more. */
  REQUEST_LOG: z.enum(['all', 'failures']).default('all'),
  /** Several servers are given as in libpq: `?host=one,two&target_session_attrs=read-write` (ADR 189). */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, hostname: /^[^,]*$/ }),
  /** Schema of the service's tables. Default: the service's name with `_`. Extensions are in the schema `extensions`. */
  DATABASE_SCHEMA: z.string().regex(schemaName, 'must be a name that needs no quotes').optional(),
  DATABASE_POOL: z.coerce.number().int().min(1).max(200).default(10),
  /** Number of replicas that the database connections are sized for. A service that finds more logs it; one more is allowed during a rollout. */
  DATABASE_REPLICAS: z.coerce.number().int().min(1).optional(),
  /** Statements and transactions of requests that may wait for a connection; the next request that needs one gets 503. */
  DATABASE_QUEUE: z.coerce.number().int().min(1).default(64),
  /** Maximum time that one of them waits. */
  DATABASE_WAIT_MS: z.coerce.number().int().min(0).default(1000),
  /** Maximum number of requests in progress under overload; the next one gets 503. */
  MAX_IN_PROGRESS: z.coerce.number().int().min(1).default(160),
  /** Memory for request bodies, in bytes; bodies of more than 100 kB use at most three quarters of it. Beyond it requests get 503. */
  BODY_MEMORY_BYTES: z.coerce.number().int().min(1_000_000).default(67_108_864),
  /** After this time the statements of a request are cancelled. Must be less than the gateway waits (30 s). */
  REQUEST_DEADLINE_MS: z.coerce.number().int().min(1).default(20_000),
  /**
   * Maximum number of client connections; further ones are closed at once, and unread requests and responses end earlier.
   * Together with the connections of the pools it must stay below the limit of file descriptors.
   */
  MAX_CONNECTIONS: z.coerce.number().int().min(1).default(2000),
  /**
   * Memory for responses that clients have not read, in bytes. Beyond it, connections of the network with the most unread
   * bytes are closed. Together with BODY_MEMORY_BYTES at most a quarter of the container's memory.
   */
  ANSWER_MEMORY_BYTES: z.coerce.number().int().min(1_000_000).default(67_108_864),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** A Redis that does not answer for this long counts as unavailable until it answers again. */
  REDIS_TIMEOUT_MS: z.coerce.number().int().min(1).default(200),
  /** For the operations page: firing alerts and the traffic of all replicas. Without it the page shows the services' own figures. */
  PROMETHEUS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Addresses of the gateway, comma separated; X-Forwarded-For is ignored in requests from other addresses. */
  TRUST_PROXY: z.string().default('127.0.0.1,::1'),
  /**
   * Secret that the gateway sends as X-Gateway-Secret; X-Forwarded-* is ignored in requests without it. For a rotation, two
   * secrets, comma separated: both are accepted, and the gateway sends the first.
   */
  GATEWAY_SECRET: z
    .string()
    .regex(
      /^[\w-]+(?:,[\w-]+)?$/,
      'must be 32 or more of A-Z, a-z, 0-9, _ and -, or two of these, comma separated',
    )
    .transform((text) => text.split(','))
    .refine((secrets) => secrets.every(({ length }) => length >= 32), 'must have 32 or more characters each')
    .default([]),
  /** The public address of the platform: the server in the OpenAPI document. A slash at the end is removed. */
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => (url.endsWith('/') ? url.slice(0, -1) : url))
    .optional(),
  /** Origins whose pages may call this service, comma separated (docs/adr/0073); none by default. */
  CORS_ORIGINS: corsOrigins,
  RATE_LIMIT: z.enum(['on', 'off']).default('on'),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(12_000),
  /** Number of different unknown credentials that a network may send in a minute before it gets 429. */
  UNKNOWN_CREDENTIALS_PER_MINUTE: z.coerce.number().int().min(1).default(100),
  /** After SIGTERM: how long requests are still accepted while `/readyz` returns 503. Must be longer than the probe interval. */
  DRAIN_MS: z.coerce.number().int().min(0).default(2000),
  /** After SIGTERM: the process exits with code 1 if it has not stopped by then. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(0).default(9000),
  ...traceEnv,
};

/** The parsed settings of `commonEnv`. */
export type CommonEnv = z.output<z.ZodObject<typeof commonEnv>>;

type Variables = Record<string, string | undefined>;

/** Settings are missing or wrong. The message names the variables and never contains a value. */
export class SettingsError extends SafeError {}

/** Ends the process with exit code 1 and the message, without a stack trace, for a SettingsError; throws any other error. */
export const exitForSettings = (name: string, error: unknown): never => {
  if (!(error instanceof SettingsError)) throw error;
  const hint = `The README of ${name} lists its settings; "npx -y pnpm@10.34.9 start" sets them on one machine.`;
  process.stderr.write(`${name} cannot start. ${error.message}\n${hint}\n`);
  return process.exit(1);
};

/** Reads the settings of a process. Exits as `exitForSettings` does when they are missing or wrong. */
export const settingsOrExit = <Settings>(name: string, read: () => Settings): Settings => {
  try {
    return read();
  } catch (error) {
    return exitForSettings(name, error);
  }
};

/** Editors and `echo` end a file with a newline, which is not part of the secret. */
const contentOf = (name: string, file: string): string => {
  // The message does not contain the path, which may be the secret itself, set by mistake.
  if (!existsSync(file)) throw new SettingsError(`${name}_FILE: the file does not exist`);
  return readFileSync(file, 'utf8').trimEnd();
};

/** Reads `NAME`, or the file that `NAME_FILE` names (container platforms mount secrets); empty counts as absent. */
const valueOf = (variables: Variables, name: string): string | undefined => {
  const value = variables[name] || undefined;
  const file = variables[`${name}_FILE`] || undefined;
  if (file === undefined) return value;
  if (value !== undefined) throw new SettingsError(`${name} and ${name}_FILE are both set; set one of them`);
  return contentOf(name, file) || undefined;
};

/** Reads a service's settings. Throws a SettingsError that names every missing or wrong variable, never its value. */
export const readEnv = <Shape extends z.ZodRawShape>(
  shape: Shape,
  variables: Variables,
): z.output<z.ZodObject<Shape>> => {
  const values = Object.fromEntries(Object.keys(shape).map((name) => [name, valueOf(variables, name)]));
  const result = z.object(shape).safeParse(values);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => {
    const [name = '', ...inner] = path.map(String);
    const where = inner.length > 0 ? `${inner.join('.')} ` : '';
    return `  ${name} ${values[name] === undefined ? 'is missing' : `is wrong: ${where}${message}`}`;
  });
  throw new SettingsError(`Missing or wrong settings:\n${problems.join('\n')}`);
};

const databaseEnv = { DATABASE_URL: commonEnv.DATABASE_URL, DATABASE_SCHEMA: commonEnv.DATABASE_SCHEMA };

/** `url` with the schema of the service. */
const urlOf = (service: string, variables: Variables, url: string | undefined): string => {
  const DATABASE_SCHEMA = valueOf(variables, 'DATABASE_SCHEMA');
  const database = readEnv(databaseEnv, { DATABASE_URL: url, DATABASE_SCHEMA });
  return inSchema(database.DATABASE_URL, service, database.DATABASE_SCHEMA);
};

/**
 * Creates the functions that read a service's settings: `parseEnv` for given variables (tests), `processEnv` for those of
 * the process (main.ts). Both add the schema of the service's tables to DATABASE_URL.
 */
export const defineEnv = <Shape extends z.ZodRawShape>(service: string, shape: Shape) => {
  const parseEnv = (variables: Variables) => ({
    ...readEnv(shape, variables),
    DATABASE_URL: urlOf(service, variables, valueOf(variables, 'DATABASE_URL')),
  });
  return { parseEnv, processEnv: () => parseEnv(process.env) };
};

/**
 * URL of the database role that owns the tables: MIGRATION_DATABASE_URL, else DATABASE_URL; each may also be a file. The
 * service itself uses a role that only reads and writes rows.
 */
export const migrationUrl = (service: string, variables: Variables = process.env): string => {
  const url = valueOf(variables, 'MIGRATION_DATABASE_URL') ?? valueOf(variables, 'DATABASE_URL');
  if (url === undefined) throw new SettingsError('Set MIGRATION_DATABASE_URL or DATABASE_URL');
  return urlOf(service, variables, url);
};

/** Database URL for a command that needs no other setting: DATABASE_URL, else the service's database in the local platform. */
export const databaseUrl = (service: string): string => {
  const url = valueOf(process.env, 'DATABASE_URL') ?? localStack()?.services[service]?.databaseUrl;
  if (url === undefined)
    throw new SettingsError(
      'No local platform is running: set DATABASE_URL, or run npx -y pnpm@10.34.9 start',
    );
  return urlOf(service, process.env, url);
};

/** Settings of the program that loads a service's demo data. */
export const demoEnv = () =>
  readEnv({ GATEWAY_URL: z.url(), DEMO_ADMIN_TOKEN: z.string().min(1) }, process.env);
