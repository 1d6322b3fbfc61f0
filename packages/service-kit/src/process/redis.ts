import { Redis } from 'ioredis';
import type { Log } from './log.ts';

/**
 * A Redis that may be absent or die: commands fail at once instead of queueing, so that a caller
 * falls back within a request. `undefined` when no URL is given.
 */
export const openRedis = (url: string | undefined, log: Log): Redis | undefined => {
  if (url === undefined) return undefined;
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    commandTimeout: 500,
    retryStrategy: (times) => Math.min(50 * 2 ** times, 1000),
  });
  let away = false;
  redis.on('error', (err: Error) => {
    if (!away) log.warn({ err }, 'Redis is away');
    away = true;
  });
  redis.on('ready', () => {
    if (away) log.info('Redis is back');
    away = false;
  });
  return redis;
};

/** What `ask` gives, or undefined when Redis is absent, away or too slow. Never rejects. */
export const askRedis = async <T>(
  redis: Redis | undefined,
  ask: (redis: Redis) => Promise<T>,
): Promise<T | undefined> => {
  if (redis?.status !== 'ready') return undefined;
  try {
    return await ask(redis);
  } catch {
    return undefined;
  }
};
