import type { TestProject } from 'vitest/node';
import { mayInstall, testEnv } from './env.ts';
import { providePrograms, type Found } from './install.ts';
import { startPostgres } from './postgres.ts';
import type {} from './provided.ts';
import { startRedis } from './redis.ts';

/** What the tests of one vitest run share. */
interface Ground {
  postgresUrl: string;
  redisUrl: string | null;
  found: Found;
  stop: () => Promise<unknown>;
}

const prepare = async (): Promise<Ground> => {
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

/** vitest loads this file once a project, so the one ground of all projects hangs on the process itself. */
interface Shared {
  ground: Promise<Ground>;
  users: number;
}
const KEY = Symbol.for('@platform/local/test-setup');
const holder = globalThis as { [KEY]?: Shared };

/**
 * vitest's globalSetup: starts PostgreSQL 18 and Redis once for all projects of the run, and stops them after the
 * last. TEST_POSTGRES_URL and TEST_REDIS_URL name others to use instead.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const shared = (holder[KEY] ??= { ground: prepare(), users: 0 });
  shared.users += 1;
  const { postgresUrl, redisUrl, found, stop } = await shared.ground;
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
