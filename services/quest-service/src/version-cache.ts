import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { askRedis } from '@platform/service-kit/redis';
import type { Redis } from 'ioredis';
import { shareLookup } from './shared-lookup.ts';

/** The cache of current versions. */
export type VersionCache = ReturnType<typeof createVersionCache>;

interface VersionCacheOptions {
  redis: Redis | undefined;
  /** Reads the version from PostgreSQL. */
  read(questId: string): Promise<string | undefined>;
  /** How long a version stays in Redis, in milliseconds. */
  ttl?: number;
  /** How long reading the version from PostgreSQL may take, in milliseconds; a slower reader does not store it. */
  fillTimeout?: number;
}

/** Stores the version only if the reader's fill token is still there: no write has removed it meanwhile. */
const storeIfTokenIs = `
  if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
  end`;

/** Prefix of a fill token; no version has it. */
const tokenPrefix = 'filling:';

/** Clocks of two machines may run at slightly different rates. */
const clockDrift = 1.05;

/** The current version of each quest, read from Redis where possible, else from PostgreSQL (docs/adr/0020). */
export const createVersionCache = ({ redis, read, ttl = 1500, fillTimeout = 500 }: VersionCacheOptions) => {
  // A Redis that restarts may load old versions from its disk. They have expired once the connection has
  // been open for their lifetime; until then, and after any failure, Redis is not asked.
  let reliableFrom = Number.POSITIVE_INFINITY;
  const startWaiting = () => {
    reliableFrom = performance.now() + ttl * clockDrift;
  };
  if (redis?.status === 'ready') startWaiting();
  redis?.on('ready', startWaiting);
  redis?.on('close', () => {
    reliableFrom = Number.POSITIVE_INFINITY;
  });

  /** The reply of Redis; undefined while Redis is not reliable. */
  const query = async <T>(command: (client: Redis) => Promise<T>): Promise<T | undefined> => {
    if (performance.now() < reliableFrom) return undefined;
    const answer = await askRedis(redis, command);
    // A slow Redis is not asked again for a while, so that not every request waits for its timeout.
    if (answer === undefined && reliableFrom !== Number.POSITIVE_INFINITY) startWaiting();
    return answer;
  };

  const keyOf = (questId: string) => `quest-service:version:${questId}`;

  /** Stores a token under the key of the version, which any write removes. Undefined if the key exists. */
  const storeToken = async (questId: string): Promise<string | undefined> => {
    const token = tokenPrefix + randomUUID();
    const done = await query((client) => client.set(keyOf(questId), token, 'PX', fillTimeout, 'NX'));
    return done === 'OK' ? token : undefined;
  };

  const lookUp = async (questId: string): Promise<string | undefined> => {
    const cached = await query((client) => client.get(keyOf(questId)));
    if (typeof cached === 'string' && !cached.startsWith(tokenPrefix)) return cached;
    // The token of another reader works as well, because it was stored before this read.
    const token = cached === null ? await storeToken(questId) : cached;
    const version = await read(questId);
    if (token !== undefined && version !== undefined) {
      await query((client) => client.eval(storeIfTokenIs, 1, keyOf(questId), token, version, ttl));
    }
    return version;
  };

  return {
    /**
     * The version of a quest: never older than the last write that was answered before this call.
     * Undefined when the quest does not exist.
     */
    current: shareLookup(lookUp),
    /** Removes a quest's version from Redis. Call it after a write has committed and before it is answered. */
    invalidate: async (questId: string): Promise<void> => {
      if (redis === undefined) return;
      const removed = await askRedis(redis, (client) => client.del(keyOf(questId)));
      // Other instances may reach Redis: wait until the last version that they could have stored has expired.
      if (removed === undefined) await sleep((fillTimeout + ttl) * clockDrift);
    },
  };
};
