import { basename, join } from 'node:path';
import type { DatabaseUrls } from './databases.ts';
import { baseEnv, serviceEnv, withPrefix } from './env.ts';
import { exists, type LocalFolder } from './local-folder.ts';
import { audienceOf, ISSUER } from './keys.ts';
import { variablePrefix, type Service } from './services.ts';
import { run, withoutFrames, type Command } from './spawn.ts';
import type { Supervisor } from './supervisor.ts';

/** Output of the demo task of a service. */
export interface Demo {
  /** Merged into `demo` of stack.json. */
  demo: Record<string, unknown>;
  curls: { title: string; command: string }[];
}

const EMPTY_DEMO: Demo = { demo: {}, curls: [] };

/**
 * Parses the output of a `demo` task, which may be empty.
 * @throws with the name of the service if the output is not one JSON object
 */
const parseDemo = (service: string, output: string): Demo => {
  if (output.trim() === '') return EMPTY_DEMO;
  try {
    return { ...EMPTY_DEMO, ...(JSON.parse(output) as Partial<Demo>) };
  } catch (cause) {
    throw new Error(`demo of ${service} must print one JSON object and nothing else`, { cause });
  }
};

/** Merges the demo data of all services. */
export const mergeDemos = (demos: readonly Demo[]): Demo => ({
  demo: Object.assign({}, ...demos.map(({ demo }) => demo)) as Record<string, unknown>,
  curls: demos.flatMap(({ curls }) => curls),
});

/** Settings that `start` passes to one service. */
export interface ServiceSettings {
  port: number;
  /** The port of /livez, /readyz and /metrics. */
  probePort: number;
  database: DatabaseUrls | undefined;
  redisUrl: string | undefined;
  jwksFile: string;
  /** Folder in which Node.js caches compiled modules between starts. */
  compileCache: string;
  /** Address for clients: that of the gateway, or of the service itself without a gateway. */
  publicUrl: string;
  /** Shared with the gateway. */
  gatewaySecret: string;
  /** Variables for this service only: its secrets, keys and folders, and addresses of its stand-in, pages and mail server. */
  serviceVariables: Record<string, string>;
}

export const addressOf = ({ port }: { port: number }): string => `http://127.0.0.1:${port}`;

/** Adds the Redis database of the service to the URL. Each cell has another database. */
const redisUrlOf = ({ redisDatabase }: Service, redisUrl: string): string => {
  if (redisDatabase === 0) return redisUrl;
  const url = new URL(redisUrl);
  url.pathname = `/${redisDatabase}`;
  return url.href;
};

/** The environment of a service. TASK_MANAGER_X in the environment of `start` sets X of task-manager and has precedence. */
export const environment = (service: Service, settings: ServiceSettings): Record<string, string> => ({
  ...baseEnv(),
  HOST: '127.0.0.1',
  PORT: String(settings.port),
  PROBE_PORT: String(settings.probePort),
  ...(settings.database && { DATABASE_URL: settings.database.runtime }),
  ...(settings.redisUrl && { REDIS_URL: redisUrlOf(service, settings.redisUrl) }),
  NODE_COMPILE_CACHE: settings.compileCache,
  AUTH_JWKS: settings.jwksFile,
  AUTH_ISSUER: ISSUER,
  AUTH_AUDIENCE: audienceOf(service),
  TRUST_PROXY: '127.0.0.1',
  GATEWAY_SECRET: settings.gatewaySecret,
  PUBLIC_URL: settings.publicUrl,
  ...service.cellSettings,
  ...settings.serviceVariables,
  ...serviceEnv(),
  ...withPrefix(variablePrefix(service)),
});

/** Whether the environment of `start` sets this variable for the service. */
export const isSetFor = (service: Service, variable: string): boolean =>
  variable in withPrefix(variablePrefix(service));

/** The URL of the database that the running service uses. */
export const runningDatabaseUrl = (service: Service, settings: ServiceSettings): string =>
  environment(service, settings)['DATABASE_URL'] ?? '';

/**
 * Without limits V8 allocates and keeps 160 MB for the 20 MB of objects that a service has after its start (docs/adr/0069).
 * The limits leave room for a body of any allowed size.
 */
const HEAP_OPTIONS = ['--max-semi-space-size=4', '--max-old-space-size=512', '--expose-gc'];

/** Added to the port of a service: the inspector port, which opens only after `pnpm debug NAME`. */
const INSPECTOR_OFFSET = 1_000;
export const inspectorAddress = (url: string): string =>
  `127.0.0.1:${Number(new URL(url).port) + INSPECTOR_OFFSET}`;

/** The command that runs the service. It gets no role that may change tables. */
const serviceCommand = (service: Service, settings: ServiceSettings, logFile: string): Command => {
  const { MIGRATION_DATABASE_URL: _owner, ...env } = environment(service, settings);
  return {
    file: process.execPath,
    args: [...HEAP_OPTIONS, `--inspect-port=${inspectorAddress(addressOf(settings))}`, 'src/main.ts'],
    cwd: service.folder,
    env,
    // SIGTERM would make the service accept requests for another DRAIN_MS, which only a gateway in production needs.
    stopSignal: 'SIGINT',
    logFile,
  };
};

const TASKS = ['migrate', 'demo'] as const;

const existingModules = async ({ folder }: Service, names: readonly string[]): Promise<string[]> => {
  const files = names.map((name) => join(folder, `src/${name}.ts`));
  const fileExists = await Promise.all(files.map(exists));
  return files.filter((_, index) => fileExists[index]);
};

/**
 * Compiles the modules of all services in one process, so that Node.js stores them in `compileCache`. Otherwise each
 * service would compile the shared modules itself, and hold the 20 MB of the compiler as long as it runs.
 */
export const compileModules = async (
  services: readonly Service[],
  compileCache: string,
  signal: AbortSignal,
): Promise<void> => {
  const libraries = await Promise.all(services.map((service) => existingModules(service, ['app'])));
  const programs = await Promise.all(services.map((service) => existingModules(service, ['main', ...TASKS])));
  // Node.js compiles all imports before it evaluates the first one, which exits the process, so no program runs.
  const imports = ['data:text/javascript,process.exit()', ...programs.flat()];
  const script = imports.map((specifier) => `import ${JSON.stringify(specifier)};`).join('');
  // Errors are ignored here: a service reports a module that it cannot load.
  await run(
    process.execPath,
    [...libraries.flat().flatMap((file) => ['--import', file]), '--input-type=module', '--eval', script],
    { env: { ...baseEnv(), NODE_COMPILE_CACHE: compileCache }, signal },
  );
};

const RESPONSE_TIMEOUT_MS = 5_000;

/** Response of an address; undefined if there is none. */
const responseOf = async (url: string): Promise<{ ok: boolean; text: string } | undefined> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
    return { ok: response.ok, text: `${url} responds ${response.status} ${await response.text()}` };
  } catch {
    return undefined;
  }
};

/** Returns whether an address sends any response. */
export const isReachable = async (url: string): Promise<boolean> => (await responseOf(url)) !== undefined;

/** Returns whether an address responds with a 2xx status. */
export const respondsOk = async (url: string): Promise<boolean> => (await responseOf(url))?.ok === true;

/** The dependencies that starting any service needs. */
export interface Launch {
  supervisor: Supervisor;
  local: LocalFolder;
  adminToken: string;
  /** Aborted when the stack stops before it is ready. */
  stopping: AbortSignal;
}

const READY_MS = 180_000;
/** A service may take 10 s to finish its running requests. */
const STOP_LIMIT_MS = 12_000;

/**
 * Migrates a service and loads its demo data with the role that owns its tables; no running service is needed. Both run in
 * one process, because loading their modules takes longer than the work.
 * @throws with the stderr of the failed step; its stdout is omitted because the demo prints credentials
 */
export const prepareService = async (
  { adminToken, stopping }: Launch,
  service: Service,
  settings: ServiceSettings,
): Promise<Demo> => {
  // Only the first cell gets demo data, because the portal and the examples use that cell.
  const tasks = await existingModules(service, service.prefix === '' ? TASKS : ['migrate']);
  const lastTask = tasks.pop();
  if (lastTask === undefined) return parseDemo(service.name, '');
  const env = {
    ...(settings.database && { MIGRATION_DATABASE_URL: settings.database.owner }),
    ...environment(service, settings),
    GATEWAY_URL: settings.publicUrl,
    DEMO_ADMIN_TOKEN: adminToken,
  };
  const args = [...tasks.flatMap((file) => ['--import', file]), lastTask];
  const result = await run(process.execPath, args, { cwd: service.folder, env, signal: stopping });
  if (result.code === 0) return parseDemo(service.name, result.stdout);
  const names = [...tasks, lastTask].map((file) => basename(file, '.ts')).join(' or ');
  throw new Error(`${names} of ${service.name} failed:\n${withoutFrames(result.stderr)}`);
};

/**
 * Starts an instance of a service under this name and waits until it is ready.
 * @throws with the last lines of its log if it does not become ready
 */
export const startInstance = async (
  { supervisor, local }: Launch,
  name: string,
  service: Service,
  settings: ServiceSettings,
): Promise<void> => {
  const readiness = `${addressOf({ port: settings.probePort })}/readyz`;
  const program = supervisor.start('service', {
    name,
    command: serviceCommand(service, settings, local.logFile(name)),
    isReady: () => respondsOk(readiness),
    explain: async () => (await responseOf(readiness))?.text,
    stopLimitMs: STOP_LIMIT_MS,
  });
  await program.ready(READY_MS);
};
