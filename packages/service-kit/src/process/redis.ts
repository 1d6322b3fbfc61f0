import { Redis } from 'ioredis';
import type { Log } from './log.ts';

/**
 * Opens a Redis that may crash or hang. Commands fail at once instead of being queued, so that callers can fall back
 * within a request. If Redis does not answer for `timeoutMs`, the connection is closed, and `status` is not `ready` until
 * Redis answers on a new one. So only the first commands of an outage wait. Returns undefined without a URL.
 */
export const openRedis = (url: string | undefined, log: Log, timeoutMs = 200): Redis | undefined => {
  if (url === undefined) return undefined;
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    commandTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    retryStrategy: (times) => Math.min(50 * 2 ** times, 1000),
  });
  let away = false;
  redis.on('error', (err: Error) => {
    // Error messages are not logged, because they may contain values. This one is a constant of ioredis.
    const reason = err.message.startsWith('Socket timeout') ? `no answer for ${timeoutMs} ms` : undefined;
    if (!away) log.warn({ err, reason }, 'Redis is away');
    away = true;
  });
  redis.on('ready', () => {
    if (away) log.info('Redis is back');
    away = false;
  });
  return redis;
};

/** Returns the result of `ask`, or undefined when Redis is not configured, unavailable or too slow. Never rejects. */
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

/** Whether Redis answers now. Returns false at once while Redis is known to be unavailable. */
export const isRedisUp = async (redis: Redis): Promise<boolean> =>
  (await askRedis(redis, (open) => open.ping())) === 'PONG';
