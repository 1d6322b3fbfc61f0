import { resolve } from 'node:path';

/** Reads an environment variable; only this file does so. An empty variable counts as missing. */
const value = (name: string): string | undefined => process.env[name] || undefined;

const port = (name: string, defaultPort: number, highest: number): number => {
  const number = Number(value(name) ?? defaultPort);
  if (Number.isInteger(number) && number >= 1 && number <= highest) return number;
  throw new Error(`${name} must be a port from 1 to ${highest}, not "${value(name)}"`);
};

/** Whether missing programs may be installed. */
export const mayInstall = (): boolean => value('PLATFORM_NO_INSTALL') === undefined;

/** Whether this is an unattended run, which fails if a test is skipped. */
export const inCi = (): boolean => value('CI') === 'true';

/** URLs of running servers that the tests use instead of starting their own. */
export const testEnv = () => ({
  postgresUrl: value('TEST_POSTGRES_URL'),
  redisUrl: value('TEST_REDIS_URL'),
});

/** A folder with PostgreSQL and Citus, for `test:citus`. */
export const citusRoot = (): string | undefined => value('CITUS_ROOT');

/**
 * The highest port of a stack minus PORT_BASE: the inspector (+1,000) of the eighth cell (+100 each) of the second
 * instance (+40) of a service with the highest port (10).
 */
const PORT_SPAN = 1_000 + 8 * 100 + 40 + 10;

/** The gateway's certificate and key: either both variables are set or neither. */
const gatewayTls = () => {
  const [certificate, key] = [value('GATEWAY_TLS_CERTIFICATE'), value('GATEWAY_TLS_KEY')];
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined)
    throw new Error('set both GATEWAY_TLS_CERTIFICATE and GATEWAY_TLS_KEY, or neither');
  const tlsPort = port('GATEWAY_TLS_PORT', 8443, 65_535);
  return { port: tlsPort, certificate: resolve(certificate), key: resolve(key) };
};

/** Size and number of the files of one log. */
export interface LogLimits {
  maxBytes: number;
  /** Includes the current file. */
  maxFiles: number;
}

const UNITS: Record<string, number> = { '': 1, k: 1_000, m: 1_000_000, g: 1_000_000_000 };

/**
 * Size at which a log is rotated and number of files that are kept. compose.yaml uses the same variables.
 * @throws with the name of the invalid variable
 */
export const logLimits = (): LogLimits => {
  const [size, files] = [value('LOG_MAX_SIZE') ?? '20m', value('LOG_MAX_FILES') ?? '5'];
  const { count, unit = '' } = /^(?<count>[1-9]\d{0,8})(?<unit>[kmg]?)$/.exec(size)?.groups ?? {};
  if (count === undefined) throw new Error(`LOG_MAX_SIZE must be a size such as 500k or 20m, not "${size}"`);
  if (!/^[1-9]\d?$/.test(files))
    throw new Error(`LOG_MAX_FILES must be a number from 1 to 99, not "${files}"`);
  return { maxBytes: Number(count) * (UNITS[unit] ?? 1), maxFiles: Number(files) };
};

/**
 * Settings of `start` itself.
 * @throws with the name of the invalid variable
 */
export const startEnv = () => ({
  // Each log reads the limits again; reading them here reports an invalid value before anything starts.
  logLimits: logLimits(),
  gatewayPort: port('GATEWAY_PORT', 8080, 65_535),
  gatewayTls: gatewayTls(),
  gatewayMetricsPort:
    value('GATEWAY_METRICS_PORT') === undefined ? undefined : port('GATEWAY_METRICS_PORT', 9145, 65_535),
  gatewayIpv6: value('GATEWAY_IPV6') !== undefined,
  portBase: port('PORT_BASE', 4100, 65_535 - PORT_SPAN),
  databaseUrl: value('DATABASE_URL'),
  redisUrl: value('REDIS_URL'),
});

/** Returns the variables whose names have the prefix, without the prefix. */
export const withPrefix = (prefix: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, text]) =>
      text && name.startsWith(prefix) ? [[name.slice(prefix.length), text]] : [],
    ),
  );

/** Folders to search for programs. */
export const searchPath = (): string[] => (value('PATH') ?? '').split(':').filter(Boolean);

const pick = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const text = value(name);
      return text === undefined ? [] : [[name, text]];
    }),
  );

/** The whole environment with some variables changed, for programs that use this terminal. */
export const inheritedEnv = (changes: Record<string, string>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...changes,
});

/** Variables that every child process needs. */
export const baseEnv = (): Record<string, string> =>
  pick(['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'USER', 'NODE_COMPILE_CACHE']);

/** Settings that `start` passes on to all services; any other setting needs the prefix of its service. */
export const SHARED_SETTINGS = [
  'CORS_ORIGINS',
  'DRAIN_MS',
  'LOG_LEVEL',
  'NODE_ENV',
  'NODE_OPTIONS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'PROMETHEUS_URL',
  'RATE_LIMIT',
  'REQUEST_LOG',
  'SHUTDOWN_TIMEOUT_MS',
  'SENTRY_DSN',
];

export const serviceEnv = (): Record<string, string> => pick(SHARED_SETTINGS);
