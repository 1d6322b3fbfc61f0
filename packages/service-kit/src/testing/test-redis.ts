import { startRedis } from '@platform/local/redis';
import { openRedis } from '../process/redis.ts';
import { captureLog } from './log.ts';
import { expect, onTestFinished } from 'vitest';

/** A Redis that the test can kill, and connections to it as a service opens them. */
export const startTestRedis = async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const connect = async () => {
    const redis = openRedis(server.url, captureLog().log);
    if (redis === undefined) throw new Error('no connection was made');
    onTestFinished(() => redis.disconnect());
    await expect.poll(() => redis.status).toBe('ready');
    return redis;
  };
  return { server, connect };
};
