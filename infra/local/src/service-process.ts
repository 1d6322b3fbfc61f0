import { basename, join } from 'node:path';
import type { DatabaseUrls } from './databases.ts';
import { baseEnv, serviceEnv, withPrefix } from './env.ts';
import { exists, type LocalFolder } from './local-folder.ts';
import { audienceOf, ISSUER } from './keys.ts';
import { variablePrefix, type Service } from './services.ts';
import { run, withoutFrames, type Command } from './spawn.ts';
import type { Supervisor } from './program.ts';

/** What the demo task of a service prints. */
export interface Demo {
  /** Merged into `demo` of stack.json. */
  demo: Record<string, unknown>;
  curls: { title: string; command: string }[];
}

const NOTHING: Demo = { demo: {}, curls: [] };

/**
 * Parses the output of a `demo` task; it may be empty.
 * @throws naming the service when the output is not one JSON object
 */
const parseDemo = (service: string, printed: string): Demo => {
  if (printed.trim() === '') return NOTHING;
  try {
    return { ...NOTHING, ...(JSON.parse(printed) as Partial<Demo>) };
  } catch (cause) {
    throw new Error(`demo of ${service} must print one JSON object and nothing else`, { cause });
  }
};

/** Merges the demo data of all services. */
export const mergeDemos = (demos: readonly Demo[]): Demo => ({
  demo: Object.assign({}, ...demos.map(({ demo }) => demo)) as Record<string, unknown>,
  curls: demos.flatMap(({ curls }) => curls),
});

/** What `start` provides for one service. */
export interface ServiceSettings {
  port: number;
  /** The port of /livez, /readyz and /metrics. */
  probePort: number;
  database: DatabaseUrls | undefined;
  redisUrl: string | undefined;
  jwksFile: string;
  /** Where Node.js keeps compiled modules from one start to the next. */
  compileCache: string;
  /** Address for clients: the gateway's, or the service's own without a gateway. */
  publicUrl: string;
  /** Shared with the gateway. */
  gatewaySecret: string;
  /** Its secrets, keys and folders, by the name of the variable. */
  own: Record<string, string>;
}

export const addressOf = ({ port }: { port: number }): string => `http://127.0.0.1:${port}`;

/** With the database of the service, whose cells have another one each. */
const redisUrlOf = ({ redisDatabase }: Service, redisUrl: string): string => {
  if (redisDatabase === 0) return redisUrl;
  const url = new URL(redisUrl);
  url.pathname = `/${redisDatabase}`;
  return url.href;
};

/** The environment of a service. TASK_MANAGER_X in the environment of `start` is X of task-manager and wins. */
export const environment = (service: Service, settings: ServiceSettings): Record<string, string> => ({
  ...baseEnv(),
  HOST: '127.0.0.1',
  PORT: String(settings.port),
  PROBE_PORT: String(settings.probePort),
  ...(settings.database && { DATABASE_URL: settings.database.run }),
  ...(settings.redisUrl && { REDIS_URL: redisUrlOf(service, settings.redisUrl) }),
  NODE_COMPILE_CACHE: settings.compileCache,
  AUTH_JWKS: settings.jwksFile,
  AUTH_ISSUER: ISSUER,
  AUTH_AUDIENCE: audienceOf(service),
  TRUST_PROXY: '127.0.0.1',
  GATEWAY_SECRET: settings.gatewaySecret,
  PUBLIC_URL: settings.publicUrl,
  ...service.cellSettings,
  ...settings.own,
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
 * Without limits V8 takes 160 MB for the 20 MB of objects that a service has after its start, and keeps them (docs/adr/0069).
 * There is room for a body of any allowed size.
 */
const HEAP_OPTIONS = ['--max-semi-space-size=4', '--max-old-space-size=512', '--expose-gc'];

/** Added to the port of a service: where a debugger attaches after `pnpm debug NAME`. Nothing listens there until then. */
const INSPECTOR_OFFSET = 1_000;
export const inspectorOf = (url: string): string =>
  `127.0.0.1:${Number(new URL(url).port) + INSPECTOR_OFFSET}`;

/** The service itself, which gets no role that may change tables. */
const serviceCommand = (service: Service, settings: ServiceSettings, logFile: string): Command => {
  const { MIGRATION_DATABASE_URL: _owner, ...env } = environment(service, settings);
  return {
    file: process.execPath,
    args: [...HEAP_OPTIONS, `--inspect-port=${inspectorOf(addressOf(settings))}`, 'src/main.ts'],
    cwd: service.folder,
    env,
    // SIGTERM would make the service accept requests for another DRAIN_MS, which only a gateway in production needs.
    stopSignal: 'SIGINT',
    logFile,
  };
};

const TASKS = ['migrate', 'demo'] as const;

const existing = async ({ folder }: Service, names: readonly string[]): Promise<string[]> => {
  const files = names.map((name) => join(folder, `src/${name}.ts`));
  const areThere = await Promise.all(files.map(exists));
  return files.filter((_, index) => areThere[index]);
};

/**
 * Compiles the modules of all services in one process, so that Node.js keeps them in `compileCache`. Without it each
 * service would compile what all have in common, and keep the 20 MB of the compiler for as long as it runs.
 */
export const compileModules = async (
  services: readonly Service[],
  compileCache: string,
  signal: AbortSignal,
): Promise<void> => {
  const libraries = await Promise.all(services.map((service) => existing(service, ['app'])));
  const programs = await Promise.all(services.map((service) => existing(service, ['main', ...TASKS])));
  // All imports are compiled before the first one is evaluated; that one ends the process, so no program runs.
  const imports = ['data:text/javascript,process.exit()', ...programs.flat()];
  const script = imports.map((specifier) => `import ${JSON.stringify(specifier)};`).join('');
  // A module that cannot be loaded is reported by its service.
  await run(
    process.execPath,
    [...libraries.flat().flatMap((file) => ['--import', file]), '--input-type=module', '--eval', script],
    { env: { ...baseEnv(), NODE_COMPILE_CACHE: compileCache }, signal },
  );
};

const ANSWER_MS = 5_000;

/** What an address answers; undefined when it does not answer. */
const answerAt = async (url: string): Promise<{ ok: boolean; text: string } | undefined> => {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    return { ok: answer.ok, text: `${url} answers ${answer.status} ${await answer.text()}` };
  } catch {
    return undefined;
  }
};

/** Whether an address answers at all. */
export const answers = async (url: string): Promise<boolean> => (await answerAt(url)) !== undefined;

/** Whether an address answers with a 2xx status. */
export const answersWell = async (url: string): Promise<boolean> => (await answerAt(url))?.ok === true;

/** What all services are launched with. */
export interface Launch {
  supervisor: Supervisor;
  local: LocalFolder;
  adminToken: string;
  /** Aborted when the stack stops before it is up. */
  stopping: AbortSignal;
}

const READY_MS = 180_000;
/** A service may take 10 s to finish its running requests. */
const STOP_LIMIT_MS = 12_000;

/**
 * Migrates a service and loads its demo data as the owner of its tables, which needs no running service. Both run in one
 * process, because loading their modules takes longer than the work.
 * @throws with what the step that failed wrote to stderr: the demo prints credentials
 */
export const prepareService = async (
  { adminToken, stopping }: Launch,
  service: Service,
  settings: ServiceSettings,
): Promise<Demo> => {
  // Demo data is for the first cell, which the portal and the examples use.
  const tasks = await existing(service, service.prefix === '' ? TASKS : ['migrate']);
  const last = tasks.pop();
  if (last === undefined) return parseDemo(service.name, '');
  const env = {
    ...(settings.database && { MIGRATION_DATABASE_URL: settings.database.own }),
    ...environment(service, settings),
    GATEWAY_URL: settings.publicUrl,
    DEMO_ADMIN_TOKEN: adminToken,
  };
  const args = [...tasks.flatMap((file) => ['--import', file]), last];
  const done = await run(process.execPath, args, { cwd: service.folder, env, signal: stopping });
  if (done.code === 0) return parseDemo(service.name, done.stdout);
  const names = [...tasks, last].map((file) => basename(file, '.ts')).join(' or ');
  throw new Error(`${names} of ${service.name} failed:\n${withoutFrames(done.stderr)}`);
};

/**
 * Starts an instance of a service under the name and waits until it is ready.
 * @throws with the end of its log when it does not come up
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
    answers: () => answersWell(readiness),
    explain: async () => (await answerAt(readiness))?.text,
    stopLimitMs: STOP_LIMIT_MS,
  });
  await program.ready(READY_MS);
};
