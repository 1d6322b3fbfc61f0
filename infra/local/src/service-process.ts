import { join } from 'node:path';
import type { DatabaseUrls } from './databases.ts';
import { parseDemo, type Demo } from './demo.ts';
import { baseEnv, serviceEnv, withPrefix } from './env.ts';
import { exists } from './files.ts';
import { AUDIENCE, ISSUER } from './keys.ts';
import type { LocalFolder } from './local-folder.ts';
import { variablePrefix, type Service } from './services.ts';
import { lastLines, run, type Command } from './spawn.ts';
import type { Supervisor } from './supervisor.ts';

/** What `start` provides for one service. */
export interface ServiceSettings {
  port: number;
  database: DatabaseUrls | undefined;
  redisUrl: string | undefined;
  jwksFile: string;
  /** Where Node.js keeps compiled modules from one start to the next. */
  compileCache: string;
  /** Whether that folder is still empty. */
  firstStart: boolean;
  /** Address for clients: the gateway's, or the service's own without a gateway. */
  publicUrl: string;
  /** Shared with the gateway. */
  gatewaySecret: string;
  /** Its secrets, keys and folders, by the name of the variable. */
  own: Record<string, string>;
}

export const addressOf = ({ port }: { port: number }): string => `http://127.0.0.1:${port}`;

/** The environment of a service. TASK_MANAGER_X in the environment of `start` is X of task-manager and wins. */
const environment = (service: Service, settings: ServiceSettings): Record<string, string> => ({
  ...baseEnv(),
  HOST: '127.0.0.1',
  PORT: String(settings.port),
  ...(settings.database && { DATABASE_URL: settings.database.run }),
  ...(settings.redisUrl && { REDIS_URL: settings.redisUrl }),
  NODE_COMPILE_CACHE: settings.compileCache,
  AUTH_JWKS: settings.jwksFile,
  AUTH_ISSUER: ISSUER,
  AUTH_AUDIENCE: AUDIENCE,
  TRUST_PROXY: '127.0.0.1',
  GATEWAY_SECRET: settings.gatewaySecret,
  PUBLIC_URL: settings.publicUrl,
  ...settings.own,
  ...serviceEnv(),
  ...withPrefix(variablePrefix(service)),
});

/** Whether the environment of `start` sets this variable for the service. */
export const isSetFor = (service: Service, variable: 'DATABASE_URL' | 'REDIS_URL'): boolean =>
  variable in withPrefix(variablePrefix(service));

/** The URL of the database that the running service uses. */
export const runningDatabaseUrl = (service: Service, settings: ServiceSettings): string =>
  environment(service, settings)['DATABASE_URL'] ?? '';

/**
 * Without limits V8 takes 160 MB for the 20 MB of objects that a service has after its start, and keeps them. With these
 * an idle service stays near 110 MB, with room for a body of any allowed size.
 */
const HEAP_LIMITS = ['--max-semi-space-size=4', '--max-old-space-size=512'];

/** Added to the port of a service: where a debugger attaches after `pnpm debug NAME`. Nothing listens there until then. */
const INSPECTOR_OFFSET = 1_000;
export const inspectorOf = (url: string): string =>
  `127.0.0.1:${Number(new URL(url).port) + INSPECTOR_OFFSET}`;

/** The service itself, which gets no role that may change tables. */
const serviceCommand = (service: Service, settings: ServiceSettings, logFile: string): Command => {
  const { MIGRATION_DATABASE_URL: _owner, ...env } = environment(service, settings);
  return {
    file: process.execPath,
    args: [...HEAP_LIMITS, `--inspect-port=${inspectorOf(addressOf(settings))}`, 'src/main.ts'],
    cwd: service.folder,
    env,
    // SIGTERM would make the service accept requests for another DRAIN_MS, which only a gateway in production needs.
    stopSignal: 'SIGINT',
    logFile,
  };
};

/**
 * Runs one of the tasks of a service as the owner of its tables.
 * @returns its standard output; empty when the service has no such task
 * @throws with the end of its output when it fails
 */
const runTask = async (
  service: Service,
  settings: ServiceSettings,
  task: 'migrate' | 'demo',
  more: Record<string, string>,
  signal: AbortSignal,
): Promise<string> => {
  const script = `src/${task}.ts`;
  if (!(await exists(join(service.folder, script)))) return '';
  const owner = settings.database && { MIGRATION_DATABASE_URL: settings.database.own };
  const env = { ...owner, ...environment(service, settings), ...more };
  // At the first start the first task also loads the modules of the service: the service then finds them compiled,
  // instead of keeping the 20 MB of the compiler for as long as it runs.
  const app = join(service.folder, 'src/app.ts');
  const preload = task === 'migrate' && settings.firstStart && (await exists(app)) ? ['--import', app] : [];
  const done = await run(process.execPath, [...preload, script], { cwd: service.folder, env, signal });
  if (done.code === 0) return done.stdout;
  throw new Error(`${task} of ${service.name} failed:\n${lastLines(done.output)}`);
};

/** Whether an address answers with a 2xx status. */
export const answersWell = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.ok;
    },
    () => false,
  );

/** What all services are launched with. */
export interface Launch {
  supervisor: Supervisor;
  local: LocalFolder;
  adminToken: string;
  /** Aborted when the stack stops before it is up. */
  stopping: AbortSignal;
}

const READY_MS = 60_000;
/** A service may take 10 s to finish its running requests. */
const STOP_LIMIT_MS = 12_000;

/**
 * Migrates a service and loads its demo data, which needs no running service.
 * @throws with the end of the output of the step that failed
 */
export const prepareService = async (
  { adminToken, stopping }: Launch,
  service: Service,
  settings: ServiceSettings,
): Promise<Demo> => {
  await runTask(service, settings, 'migrate', {}, stopping);
  const forDemo = { GATEWAY_URL: settings.publicUrl, DEMO_ADMIN_TOKEN: adminToken };
  return parseDemo(service.name, await runTask(service, settings, 'demo', forDemo, stopping));
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
  const program = supervisor.start('service', {
    name,
    command: serviceCommand(service, settings, await local.logFile(name)),
    answers: () => answersWell(`${addressOf(settings)}/readyz`),
    stopLimitMs: STOP_LIMIT_MS,
  });
  await program.ready(READY_MS);
};
