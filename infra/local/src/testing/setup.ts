import type { TestProject } from 'vitest/node';
import { mayInstall, testEnv } from '../env.ts';
import { providePrograms } from '../install.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type {} from './vitest.ts';

/**
 * vitest's globalSetup: starts PostgreSQL 18 and Redis once for all projects of the run, and stops them after the
 * last. TEST_POSTGRES_URL and TEST_REDIS_URL name others to use instead.
 */
export const setup = async (root: TestProject): Promise<() => Promise<void>> => {
  const given = testEnv();
  const found = await providePrograms(['redis-server', 'nginx'], mayInstall());
  const [postgres, redis] = await Promise.all([
    given.postgresUrl ? undefined : startPostgres(),
    given.redisUrl || !found['redis-server'] ? undefined : startRedis(),
  ]);
  root.provide('postgresUrl', given.postgresUrl ?? postgres?.url ?? '');
  root.provide('redisUrl', given.redisUrl ?? redis?.url ?? null);
  root.provide('redisServerPath', found['redis-server']);
  root.provide('nginxPath', found.nginx);
  root.provide('chromiumPath', found.chromium);
  root.provide('promtoolPath', found.promtool);
  return async () => {
    await Promise.all([postgres?.stop(), redis?.stop()]);
  };
};
