import { startRedis } from '@platform/local/redis';
import { openRedis } from '../process/redis.ts';
import { captureLog } from './log.ts';
import { expect, onTestFinished } from 'vitest';

/** Starts a Redis that the test can kill. `connect` opens a connection as a service does. */
export const startTestRedis = async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const connect = async () => {
    const redis = openRedis(server.url, captureLog().log);
    if (redis === undefined) throw new Error('openRedis opened no connection');
    onTestFinished(() => redis.disconnect());
    await expect.poll(() => redis.status).toBe('ready');
    return redis;
  };
  return { server, connect };
};
