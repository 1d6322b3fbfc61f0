import { existsSync, readFileSync } from 'node:fs';
import { localStack } from '@platform/program/local-stack';
import { z } from 'zod';
import { inSchema, schemaName } from '../database/schema.ts';
import { SafeError } from './safe-error.ts';
import './validation-messages.ts';

export { tokenEnv, tokenOptions } from './token-env.ts';

/** Settings of traces, with OpenTelemetry's names. Its SDK reads OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES itself. */
export const traceEnv = {
  /** Collector (OTLP over HTTP); without it there are no traces. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Headers for the collector: `name=value,…`. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  /** Without `parentbased_…`, which obey the `sampled` flag of the caller: any caller could have all its requests traced. */
  OTEL_TRACES_SAMPLER: z.enum(['traceidratio', 'always_on', 'always_off']).default('traceidratio'),
  /** Share of the traces that `traceidratio` samples, from 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
};

const isOrigin = (text: string): boolean =>
  !text.includes('*') &&
  URL.canParse(text) &&
  /^https?:$/.test(new URL(text).protocol) &&
  new URL(text).origin === text;

/** CORS_ORIGINS: exact origins, comma separated. `*` and `null` are none, so no page can be let in by accident. */
const corsOrigins = z
  .string()
  .default('')
  .transform((text) => text.split(',').filter((part) => part !== ''))
  .refine(
    (origins) => origins.every(isOrigin),
    'must be origins such as https://app.example.com, comma separated',
  );

/** Settings that every service has; it spreads them into its own schema. */
export const commonEnv = {
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65535),
  /** A port of its own for /livez, /readyz and /metrics, which no load on PORT can reach; without it only PORT has them. */
  PROBE_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  /** `production` in the images. In other environments, mistakes that only cost time in production are errors. */
  NODE_ENV: z.string().optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** `failures` leaves out the lines of requests that were answered below 400. */
  REQUEST_LOG: z.enum(['all', 'failures']).default('all'),
  /** Several servers are parameters, as libpq has them: `?host=one,two&target_session_attrs=read-write` (ADR 189). */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, hostname: /^[^,]*$/ }),
  /** Schema of the service's tables; the service's name with `_` if absent. Extensions are in the schema `extensions`. */
  DATABASE_SCHEMA: z.string().regex(schemaName, 'must be a name that needs no quotes').optional(),
  DATABASE_POOL: z.coerce.number().int().min(1).max(200).default(10),
  /** Replicas that the connections are sized for; a service that finds more (one extra during a rollout is allowed) logs it. */
  DATABASE_REPLICAS: z.coerce.number().int().min(1).optional(),
  /** Statements and transactions of requests that may wait for a connection; the next request that needs one gets 503. */
  DATABASE_QUEUE: z.coerce.number().int().min(1).default(64),
  /** How long one of them may wait. */
  DATABASE_WAIT_MS: z.coerce.number().int().min(0).default(1000),
  /** Requests in progress while more arrive than are answered; the next one gets 503. */
  MAX_IN_PROGRESS: z.coerce.number().int().min(1).default(160),
  /** Request bodies in memory, in bytes, those of more than 100 kB up to three quarters of it; beyond it requests get 503. */
  BODY_MEMORY_BYTES: z.coerce.number().int().min(1_000_000).default(67_108_864),
  /** After this time the statements of a request are cancelled; less than the gateway waits (30 s). */
  REQUEST_DEADLINE_MS: z.coerce.number().int().min(1).default(20_000),
  /**
   * Client connections; further ones are closed at once, and unread requests and answers end earlier. With the connections
   * of the pools it must stay below the limit of file descriptors.
   */
  MAX_CONNECTIONS: z.coerce.number().int().min(1).default(2000),
  /**
   * Answers that clients have not read, in bytes; beyond it connections of the network with the most of them close. With
   * BODY_MEMORY_BYTES at most a quarter of the memory of the container.
   */
  ANSWER_MEMORY_BYTES: z.coerce.number().int().min(1_000_000).default(67_108_864),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** A Redis that answers nothing for this long is away until it answers again. */
  REDIS_TIMEOUT_MS: z.coerce.number().int().min(1).default(200),
  /** For the operations page: alerts that fire, and traffic of all replicas; without it the page shows what the services say. */
  PROMETHEUS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Addresses of the gateway, comma separated; X-Forwarded-For of others is ignored. */
  TRUST_PROXY: z.string().default('127.0.0.1,::1'),
  /**
   * Shared with the gateway: X-Forwarded-* counts only in requests that carry it as X-Gateway-Secret. Two while it is
   * replaced, comma separated: both are accepted, and the gateway sends the first one.
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
  /** The public address of the platform, without a slash at the end: the server that the OpenAPI document names. */
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => (url.endsWith('/') ? url.slice(0, -1) : url))
    .optional(),
  /** Origins whose pages may call this service, comma separated (docs/adr/0073); none by default. */
  CORS_ORIGINS: corsOrigins,
  RATE_LIMIT: z.enum(['on', 'off']).default('on'),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(12_000),
  /** Different unknown credentials that one network may send in a minute before it gets 429. */
  UNKNOWN_CREDENTIALS_PER_MINUTE: z.coerce.number().int().min(1).default(100),
  /** After SIGTERM: how long requests are still accepted while `/readyz` says 503; longer than the interval of its probes. */
  DRAIN_MS: z.coerce.number().int().min(0).default(2000),
  /** After SIGTERM: the process ends with exit code 1 when it has not ended before. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(0).default(9000),
  ...traceEnv,
};

/** What `readEnv` makes of `commonEnv`. */
export type CommonEnv = z.output<z.ZodObject<typeof commonEnv>>;

type Variables = Record<string, string | undefined>;

/** The settings cannot be used. The message names the variables and never has a value. */
export class SettingsError extends SafeError {}

/** Ends the process with exit code 1 and the message, without a stack trace, for a SettingsError; throws any other error. */
export const exitForSettings = (name: string, error: unknown): never => {
  if (!(error instanceof SettingsError)) throw error;
  const hint = `The README of ${name} lists its settings; "npx -y pnpm@10.34.9 start" sets them on one machine.`;
  process.stderr.write(`${name} cannot start. ${error.message}\n${hint}\n`);
  return process.exit(1);
};

/** Reads the settings of a process; when they cannot be used it ends as `exitForSettings` does. */
export const settingsOrExit = <Settings>(name: string, read: () => Settings): Settings => {
  try {
    return read();
  } catch (error) {
    return exitForSettings(name, error);
  }
};

/** Editors and `echo` end a file with a newline, which is not part of the secret. */
const contentOf = (name: string, file: string): string => {
  // The message leaves the path out: it may be the secret itself, given by mistake.
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

/**
 * Reads a service's settings. Throws a SettingsError that names every variable that is missing or wrong,
 * never its value.
 */
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
 * How a service reads its settings: those of other variables in tests, and those of its process, once, in main.ts.
 * DATABASE_URL comes with the schema of its tables.
 */
export const defineEnv = <Shape extends z.ZodRawShape>(service: string, shape: Shape) => {
  const parseEnv = (variables: Variables) => ({
    ...readEnv(shape, variables),
    DATABASE_URL: urlOf(service, variables, valueOf(variables, 'DATABASE_URL')),
  });
  return { parseEnv, processEnv: () => parseEnv(process.env) };
};

/**
 * URL of the database role that owns the tables: MIGRATION_DATABASE_URL, else DATABASE_URL; each also as a file. The
 * service itself has a role that only reads and writes rows.
 */
export const migrationUrl = (service: string, variables: Variables = process.env): string => {
  const url = valueOf(variables, 'MIGRATION_DATABASE_URL') ?? valueOf(variables, 'DATABASE_URL');
  if (url === undefined) throw new SettingsError('Set MIGRATION_DATABASE_URL or DATABASE_URL');
  return urlOf(service, variables, url);
};

/** Database of a command that needs nothing else: DATABASE_URL, else that of the service in the platform that runs here. */
export const databaseUrl = (service: string): string => {
  const url = valueOf(process.env, 'DATABASE_URL') ?? localStack()?.services[service]?.databaseUrl;
  if (url === undefined)
    throw new SettingsError('No platform runs here: set DATABASE_URL, or run npx -y pnpm@10.34.9 start');
  return urlOf(service, process.env, url);
};

/** What the demo loader of a service is given. */
export const demoEnv = () =>
  readEnv({ GATEWAY_URL: z.url(), DEMO_ADMIN_TOKEN: z.string().min(1) }, process.env);
