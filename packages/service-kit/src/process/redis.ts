import { Redis } from 'ioredis';
import type { Log } from './log.ts';

/**
 * A Redis that may be absent, die or hang: commands fail at once instead of queueing, so that a caller falls back within
 * a request. When nothing is answered for `timeoutMs`, the connection is closed and `status` is not `ready` until Redis
 * answers on a new one: only the first commands of an outage wait. `undefined` when no URL is given.
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
    // Messages of errors are not logged; this one is ioredis' own.
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

/** Whether Redis answers now. Takes no longer than its timeout, and nothing while it is known to be away. */
export const isRedisUp = async (redis: Redis): Promise<boolean> =>
  (await askRedis(redis, (open) => open.ping())) === 'PONG';
