import { join } from 'node:path';
import type { Command } from './command.ts';
import type { DatabaseUrls } from './databases.ts';
import { baseEnv, serviceEnv, withPrefix } from './env.ts';
import { exists } from './files.ts';
import { AUDIENCE, ISSUER } from './keys.ts';
import { run } from './run.ts';
import { lastOf } from './text.ts';
import { variablePrefix, type Service } from './services.ts';

/** What `start` has for a service. */
export interface Surroundings {
  port: number;
  database: DatabaseUrls | undefined;
  redisUrl: string | undefined;
  jwksFile: string;
  /** Where Node.js keeps compiled modules from one start to the next. */
  compileCache: string;
  /** Whether that is still empty. */
  firstStart: boolean;
  /** Where clients reach it: the gateway, or the service itself where there is no gateway. */
  publicUrl: string;
  /** Shared with the gateway. */
  gatewaySecret: string;
  /** Its own secrets, keys and folders, by the name of the variable. */
  own: Record<string, string>;
}

/** The environment of a service. TASK_MANAGER_X in ours is X in that of task-manager, above all else. */
const environment = (service: Service, around: Surroundings): Record<string, string> => ({
  ...baseEnv(),
  HOST: '127.0.0.1',
  PORT: String(around.port),
  ...(around.database && { DATABASE_URL: around.database.run }),
  ...(around.redisUrl && { REDIS_URL: around.redisUrl }),
  NODE_COMPILE_CACHE: around.compileCache,
  AUTH_JWKS: around.jwksFile,
  AUTH_ISSUER: ISSUER,
  AUTH_AUDIENCE: AUDIENCE,
  TRUST_PROXY: '127.0.0.1',
  GATEWAY_SECRET: around.gatewaySecret,
  PUBLIC_URL: around.publicUrl,
  ...around.own,
  ...serviceEnv(),
  ...withPrefix(variablePrefix(service)),
});

/** The URL by which the running service reaches its database. */
export const runningDatabaseUrl = (service: Service, around: Surroundings): string =>
  environment(service, around)['DATABASE_URL'] ?? '';

/**
 * Left alone, V8 takes 160 MB for the 20 MB of objects that a service has after its start, and keeps them. With these
 * limits an idle service stays near 110 MB, and there is room for a body of any allowed size.
 */
const SMALL_HEAP = ['--max-semi-space-size=4', '--max-old-space-size=512'];

/** The service itself, which may not change its tables. */
export const serviceCommand = (service: Service, around: Surroundings, logFile: string): Command => {
  const { MIGRATION_DATABASE_URL: _owner, ...env } = environment(service, around);
  return {
    file: process.execPath,
    args: [...SMALL_HEAP, 'src/main.ts'],
    cwd: service.folder,
    env,
    stopSignal: 'SIGTERM',
    logFile,
  };
};

/**
 * Runs one of the service's tasks as the owner of its tables.
 * @returns its standard output; empty when the service has no such task
 * @throws with the end of its output when it fails
 */
export const runTask = async (
  service: Service,
  around: Surroundings,
  task: 'migrate' | 'demo',
  more: Record<string, string>,
  signal: AbortSignal,
): Promise<string> => {
  const script = `src/${task}.ts`;
  if (!(await exists(join(service.folder, script)))) return '';
  const owner = around.database && { MIGRATION_DATABASE_URL: around.database.own };
  const env = { ...owner, ...environment(service, around), ...more };
  // The first time, the first task also loads what the service is made of: compiled then, it is cheap for the
  // service's own process, which would otherwise carry the compiler's 20 MB for as long as it lives.
  const app = join(service.folder, 'src/app.ts');
  const preload = task === 'migrate' && around.firstStart && (await exists(app)) ? ['--import', app] : [];
  const done = await run(process.execPath, [...preload, script], { cwd: service.folder, env, signal });
  if (done.code === 0) return done.stdout;
  throw new Error(`${task} of ${service.name} failed:\n${lastOf(done.output, 20)}`);
};

/** Whether our environment names the service's own database or Redis, so that it needs none of ours. */
export const brings = (service: Service, variable: 'DATABASE_URL' | 'REDIS_URL'): boolean =>
  variable in withPrefix(variablePrefix(service));
