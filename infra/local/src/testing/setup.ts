import type { TestProject } from 'vitest/node';
import { mayInstall, testEnv } from '../env.ts';
import { providePrograms, type Found } from '../install.ts';
import { startPostgres } from './postgres.ts';
import type {} from './provided.ts';
import { startRedis } from './redis.ts';

/** The servers that the tests of one vitest run share. */
interface SharedServers {
  postgresUrl: string;
  redisUrl: string | null;
  found: Found;
  stop: () => Promise<unknown>;
}

const prepare = async (): Promise<SharedServers> => {
  const given = testEnv();
  const found = await providePrograms(['redis-server', 'nginx'], mayInstall());
  const [postgres, redis] = await Promise.all([
    given.postgresUrl ? undefined : startPostgres(),
    given.redisUrl || !found['redis-server'] ? undefined : startRedis(),
  ]);
  return {
    postgresUrl: given.postgresUrl ?? postgres?.url ?? '',
    redisUrl: given.redisUrl ?? redis?.url ?? null,
    found,
    stop: () => Promise.all([postgres?.stop(), redis?.stop()]),
  };
};

/** vitest loads this file once for each project, so the servers of all projects are kept on the global object. */
interface Shared {
  servers: Promise<SharedServers>;
  users: number;
}
const KEY = Symbol.for('@platform/local/test-setup');
const holder = globalThis as { [KEY]?: Shared };

/**
 * vitest's globalSetup: starts PostgreSQL 18 and Redis once for all projects of the run, and stops them after the
 * last. TEST_POSTGRES_URL and TEST_REDIS_URL name others to use instead.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const shared = (holder[KEY] ??= { servers: prepare(), users: 0 });
  shared.users += 1;
  const { postgresUrl, redisUrl, found, stop } = await shared.servers;
  project.provide('postgresUrl', postgresUrl);
  project.provide('redisUrl', redisUrl);
  project.provide('redisServerPath', found['redis-server']);
  project.provide('nginxPath', found.nginx);
  project.provide('chromiumPath', found.chromium);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete holder[KEY];
    await stop();
  };
};
