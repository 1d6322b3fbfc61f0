import { createLru } from '@platform/service-kit/lru';
import { askRedis } from '@platform/service-kit/redis';
import type { Redis } from 'ioredis';

/** Something whose failures are counted: an account from a network, a network, an account. */
export interface Bucket {
  key: string;
  /** Failures before the first wait. */
  free: number;
  /** Attempts between two waits after the first one. */
  retries: number;
}

/**
 * The outcome of one attempt. `refused`: a bucket must wait, and nothing was counted. `seconds` has for each bucket, in
 * their order, how long it must wait, or else how long the wait is that this attempt began; 0 for none.
 */
export interface Count {
  refused: boolean;
  seconds: readonly number[];
}

const day = 86_400;
const firstWait = 60;
const longestWait = 3600;

/** Seconds of the wait after `waits` earlier ones: 1, 2, 4 … 32 minutes, then an hour each. */
const waitSeconds = (waits: number): number => Math.min(firstWait * 2 ** waits, longestWait);

const maxBuckets = 100_000;

/** As in Redis (`countScript`); times in seconds of `performance.now`. */
interface Stored {
  used: number;
  waits: number;
  until: number;
  expiresAt: number;
}

/** Counts failures in this process, with the same rules as the scripts for Redis. */
const createMemoryBackoff = () => {
  const memory = createLru<string, Stored>(maxBuckets);
  const now = (): number => performance.now() / 1000;
  const read = (key: string): Stored | undefined => {
    const stored = memory.get(key);
    return stored && stored.expiresAt > now() ? stored : undefined;
  };

  const countOne = ({ key, free, retries }: Bucket): number => {
    const stored = read(key) ?? { used: 0, waits: 0, until: 0, expiresAt: now() + day };
    const { used, waits } = stored;
    const begins = used + 1 >= (waits === 0 ? free : retries);
    if (!begins) {
      memory.set(key, { ...stored, used: used + 1 });
      return 0;
    }
    const seconds = waitSeconds(waits);
    const expiresAt = waits === 0 ? now() + day : stored.expiresAt;
    memory.set(key, { used: 0, waits: waits + 1, until: now() + seconds, expiresAt });
    return seconds;
  };

  const undoOne = ({ key, free, retries }: Bucket, seconds: number | undefined): void => {
    const stored = read(key);
    if (stored === undefined) return;
    const waits = stored.waits - 1;
    if (seconds) memory.set(key, { ...stored, waits, until: 0, used: (waits === 0 ? free : retries) - 1 });
    else memory.set(key, { ...stored, used: Math.max(0, stored.used - 1) });
  };

  return {
    count: (buckets: readonly Bucket[]): Count => {
      const left = buckets.map(({ key }) => Math.max(0, Math.ceil((read(key)?.until ?? 0) - now())));
      if (left.some((seconds) => seconds > 0)) return { refused: true, seconds: left };
      return { refused: false, seconds: buckets.map(countOne) };
    },
    undo: (buckets: readonly Bucket[], seconds: readonly number[]): void =>
      buckets.forEach((bucket, at) => undoOne(bucket, seconds[at])),
    clear: (keys: readonly string[]): void => keys.forEach((key) => memory.delete(key)),
  };
};

/**
 * KEYS: hashes with `used` (attempts since the last wait), `waits` (their number) and `until` (the end of the last one).
 * ARGV: `free` and `retries` of each. A hash lasts a day from its first failure, or from its first wait.
 */
const countScript = `
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local stored, seconds, refused = {}, {}, 0
for i, key in ipairs(KEYS) do
  local value = redis.call('HMGET', key, 'used', 'waits', 'until')
  stored[i] = { used = tonumber(value[1]) or 0, waits = tonumber(value[2]) or 0 }
  seconds[i] = math.max(0, math.ceil((tonumber(value[3]) or 0) - now))
  if seconds[i] > 0 then refused = 1 end
end
if refused == 0 then
  for i, key in ipairs(KEYS) do
    local used, waits = stored[i].used + 1, stored[i].waits
    local most = tonumber(waits == 0 and ARGV[2 * i - 1] or ARGV[2 * i])
    if used >= most then
      seconds[i] = math.min(${firstWait} * 2 ^ waits, ${longestWait})
      redis.call('HSET', key, 'used', 0, 'waits', waits + 1, 'until', now + seconds[i])
    else
      redis.call('HSET', key, 'used', used)
    end
    if redis.call('TTL', key) < 0 or waits == 0 and used >= most then redis.call('EXPIRE', key, ${day}) end
  end
end
return { refused, unpack(seconds) }`;

/** KEYS as above. ARGV: `free`, `retries` and the seconds of the wait that the attempt began, of each. */
const undoScript = `
for i, key in ipairs(KEYS) do
  local used = tonumber(redis.call('HGET', key, 'used'))
  if used and ARGV[3 * i] == '0' then
    redis.call('HSET', key, 'used', math.max(0, used - 1))
  elseif used then
    local waits = redis.call('HINCRBY', key, 'waits', -1)
    local most = tonumber(waits == 0 and ARGV[3 * i - 2] or ARGV[3 * i - 1])
    redis.call('HSET', key, 'used', most - 1, 'until', 0)
  end
end`;

export const keysOf = (buckets: readonly Bucket[]): string[] => buckets.map(({ key }) => key);

/** Counts failures in Redis, each method in one atomic step. Nothing rejects; without an answer they resolve to undefined. */
const createRedisBackoff = (redis: Redis) => ({
  count: async (buckets: readonly Bucket[]): Promise<Count | undefined> => {
    const limits = buckets.flatMap(({ free, retries }) => [free, retries]);
    const answer = await askRedis(redis, (open) =>
      open.eval(countScript, buckets.length, ...keysOf(buckets), ...limits),
    );
    if (answer === undefined) return undefined;
    const [refused, ...seconds] = answer as number[];
    return { refused: refused === 1, seconds };
  },
  /** Takes back what `count` has counted, with the seconds that it returned. */
  undo: (buckets: readonly Bucket[], seconds: readonly number[]) => {
    const limits = buckets.flatMap(({ free, retries }, at) => [free, retries, seconds[at] ?? 0]);
    return askRedis(redis, (open) => open.eval(undoScript, buckets.length, ...keysOf(buckets), ...limits));
  },
  clear: (keys: readonly string[]) => askRedis(redis, (open) => open.del(...keys)),
});

/** An attempt that was counted as failed in these buckets. */
export interface Counted extends Count {
  /** Takes the counts back: of the buckets with these keys, or of all. Never rejects. */
  undo(keys?: readonly string[]): Promise<void>;
}

/** Makes buckets that fail too often wait, longer each time. */
export const createBackoff = (redis: Redis | undefined) => {
  const memory = createMemoryBackoff();
  const shared = redis && createRedisBackoff(redis);
  return {
    /**
     * Counts an attempt as failed in all buckets before its outcome is known, so that concurrent attempts can't all pass.
     * One round trip to Redis; in the memory of this process while Redis does not answer.
     */
    count: async (buckets: readonly Bucket[]): Promise<Counted> => {
      const answer = await shared?.count(buckets);
      const count = answer ?? memory.count(buckets);
      const store = answer === undefined ? memory : shared;
      return {
        ...count,
        undo: async (keys = keysOf(buckets)) => {
          const isMeant = buckets.map(({ key }) => keys.includes(key));
          if (!isMeant.includes(true)) return;
          const only = <T>(values: readonly T[]) => values.filter((_, at) => isMeant[at]);
          await store?.undo(only(buckets), only(count.seconds));
        },
      };
    },
    /** Forgets the failures and waits of buckets. Never rejects. */
    clear: async (keys: readonly string[]): Promise<void> => {
      memory.clear(keys);
      await shared?.clear(keys);
    },
  };
};
