import type { TestProject } from 'vitest/node';
import { mayInstall, testEnv } from '../env.ts';
import { providePrograms } from '../install.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type {} from './vitest.ts';

/**
 * Vitest's globalSetup: starts PostgreSQL 18 and Redis once for all projects of the run, and stops them after the last
 * one. TEST_POSTGRES_URL and TEST_REDIS_URL replace them.
 */
export const setup = async (root: TestProject): Promise<() => Promise<void>> => {
  const { postgresUrl, redisUrl } = testEnv();
  const programPaths = await providePrograms(['redis-server', 'nginx'], mayInstall());
  const [postgres, redis] = await Promise.all([
    postgresUrl ? undefined : startPostgres(),
    redisUrl || !programPaths['redis-server'] ? undefined : startRedis(),
  ]);
  root.provide('postgresUrl', postgresUrl ?? postgres?.url ?? '');
  root.provide('redisUrl', redisUrl ?? redis?.url ?? null);
  root.provide('redisServerPath', programPaths['redis-server']);
  root.provide('nginxPath', programPaths.nginx);
  root.provide('chromiumPath', programPaths.chromium);
  root.provide('promtoolPath', programPaths.promtool);
  return async () => {
    await Promise.all([postgres?.stop(), redis?.stop()]);
  };
};
