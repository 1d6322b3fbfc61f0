import { createLru } from '@platform/service-kit/lru';
import { askRedis } from '@platform/service-kit/redis';
import type { Redis } from 'ioredis';

/** A counter of failures: of an account on a network, of a network, or of an account. */
export interface Bucket {
  key: string;
  /** Failures until the first wait. */
  maxFailures: number;
  /** Failures between two later waits. */
  failuresBetweenWaits: number;
}

/**
 * Result of counting an attempt. `refused`: a bucket must wait, so nothing was counted, and `seconds` has the remaining wait of
 * each bucket. Otherwise `seconds` has the wait that this attempt started in each bucket. 0 means no wait.
 */
export interface Count {
  refused: boolean;
  seconds: readonly number[];
}

const day = 86_400;
const firstWaitSeconds = 60;
const maxWaitSeconds = 3600;

/** Length of a wait after `waits` earlier waits: 1, 2, 4 … 32 minutes, then an hour. */
const waitSeconds = (waits: number): number => Math.min(firstWaitSeconds * 2 ** waits, maxWaitSeconds);

const maxBuckets = 100_000;

/** State of a bucket, as in Redis (`countScript`); times are `performance.now` in seconds. */
interface BucketState {
  used: number;
  waits: number;
  until: number;
  expiresAt: number;
}

/** Counts failures in this process, with the same rules as the scripts for Redis. */
const createMemoryBackoff = () => {
  const memory = createLru<string, BucketState>(maxBuckets);
  const now = (): number => performance.now() / 1000;
  const read = (key: string): BucketState | undefined => {
    const stored = memory.get(key);
    return stored && stored.expiresAt > now() ? stored : undefined;
  };

  const countBucket = ({ key, maxFailures, failuresBetweenWaits }: Bucket): number => {
    const stored = read(key) ?? { used: 0, waits: 0, until: 0, expiresAt: now() + day };
    const { used, waits } = stored;
    const startsWait = used + 1 >= (waits === 0 ? maxFailures : failuresBetweenWaits);
    if (!startsWait) {
      memory.set(key, { ...stored, used: used + 1 });
      return 0;
    }
    const seconds = waitSeconds(waits);
    const expiresAt = waits === 0 ? now() + day : stored.expiresAt;
    memory.set(key, { used: 0, waits: waits + 1, until: now() + seconds, expiresAt });
    return seconds;
  };

  const undoBucket = (
    { key, maxFailures, failuresBetweenWaits }: Bucket,
    startedWait: number | undefined,
  ): void => {
    const stored = read(key);
    if (stored === undefined) return;
    const waits = stored.waits - 1;
    // Back to one failure before the wait that the attempt started.
    if (startedWait)
      memory.set(key, {
        ...stored,
        waits,
        until: 0,
        used: (waits === 0 ? maxFailures : failuresBetweenWaits) - 1,
      });
    else memory.set(key, { ...stored, used: Math.max(0, stored.used - 1) });
  };

  return {
    count: (buckets: readonly Bucket[]): Count => {
      const remaining = buckets.map(({ key }) => Math.max(0, Math.ceil((read(key)?.until ?? 0) - now())));
      if (remaining.some((seconds) => seconds > 0)) return { refused: true, seconds: remaining };
      return { refused: false, seconds: buckets.map(countBucket) };
    },
    undo: (buckets: readonly Bucket[], seconds: readonly number[]): void =>
      buckets.forEach((bucket, index) => undoBucket(bucket, seconds[index])),
    clear: (keys: readonly string[]): void => keys.forEach((key) => memory.delete(key)),
  };
};

/**
 * KEYS: hashes with `used` (failures since the last wait), `waits` (number of waits) and `until` (end of the last wait).
 * ARGV: `maxFailures` and `failuresBetweenWaits` of each key. A hash expires a day after its first failure; the start of its first wait sets this day anew.
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
    local limit = tonumber(waits == 0 and ARGV[2 * i - 1] or ARGV[2 * i])
    if used >= limit then
      seconds[i] = math.min(${firstWaitSeconds} * 2 ^ waits, ${maxWaitSeconds})
      redis.call('HSET', key, 'used', 0, 'waits', waits + 1, 'until', now + seconds[i])
    else
      redis.call('HSET', key, 'used', used)
    end
    if redis.call('TTL', key) < 0 or waits == 0 and used >= limit then redis.call('EXPIRE', key, ${day}) end
  end
end
return { refused, unpack(seconds) }`;

/** KEYS as above. ARGV: `maxFailures`, `failuresBetweenWaits` and the seconds of the wait that the attempt started, for each key. */
const undoScript = `
for i, key in ipairs(KEYS) do
  local used = tonumber(redis.call('HGET', key, 'used'))
  if used and ARGV[3 * i] == '0' then
    redis.call('HSET', key, 'used', math.max(0, used - 1))
  elseif used then
    local waits = redis.call('HINCRBY', key, 'waits', -1)
    local limit = tonumber(waits == 0 and ARGV[3 * i - 2] or ARGV[3 * i - 1])
    redis.call('HSET', key, 'used', limit - 1, 'until', 0)
  end
end`;

export const keysOf = (buckets: readonly Bucket[]): string[] => buckets.map(({ key }) => key);

/** Counts failures in Redis; each method is atomic. Methods never reject; they resolve to undefined when Redis does not answer. */
const createRedisBackoff = (redis: Redis) => ({
  count: async (buckets: readonly Bucket[]): Promise<Count | undefined> => {
    const limits = buckets.flatMap(({ maxFailures, failuresBetweenWaits }) => [
      maxFailures,
      failuresBetweenWaits,
    ]);
    const answer = await askRedis(redis, (client) =>
      client.eval(countScript, buckets.length, ...keysOf(buckets), ...limits),
    );
    if (answer === undefined) return undefined;
    const [refused, ...seconds] = answer as number[];
    return { refused: refused === 1, seconds };
  },
  /** Undoes a `count`, which returned these seconds. */
  undo: (buckets: readonly Bucket[], seconds: readonly number[]) => {
    const limits = buckets.flatMap(({ maxFailures, failuresBetweenWaits }, index) => [
      maxFailures,
      failuresBetweenWaits,
      seconds[index] ?? 0,
    ]);
    return askRedis(redis, (client) =>
      client.eval(undoScript, buckets.length, ...keysOf(buckets), ...limits),
    );
  },
  clear: (keys: readonly string[]) => askRedis(redis, (client) => client.del(...keys)),
});

/** An attempt that was counted as failed. */
export interface CountedAttempt extends Count {
  /** Undoes the count in the buckets with these keys, or in all. Never rejects. */
  undo(keys?: readonly string[]): Promise<void>;
}

/** Creates counters of failures: a bucket with too many failures must wait, longer each time. */
export const createBackoff = (redis: Redis | undefined) => {
  const memory = createMemoryBackoff();
  const shared = redis && createRedisBackoff(redis);
  return {
    /**
     * Counts an attempt as failed in all buckets before its outcome is known, so that concurrent attempts can't all pass.
     * Takes one round trip to Redis; counts in memory while Redis does not answer.
     */
    count: async (buckets: readonly Bucket[]): Promise<CountedAttempt> => {
      const answer = await shared?.count(buckets);
      const count = answer ?? memory.count(buckets);
      const store = answer === undefined ? memory : shared;
      return {
        ...count,
        undo: async (keys = keysOf(buckets)) => {
          const isSelected = buckets.map(({ key }) => keys.includes(key));
          if (!isSelected.includes(true)) return;
          const select = <T>(values: readonly T[]) => values.filter((_, index) => isSelected[index]);
          await store?.undo(select(buckets), select(count.seconds));
        },
      };
    },
    /** Deletes the failures and waits of buckets. Never rejects. */
    clear: async (keys: readonly string[]): Promise<void> => {
      memory.clear(keys);
      await shared?.clear(keys);
    },
  };
};
