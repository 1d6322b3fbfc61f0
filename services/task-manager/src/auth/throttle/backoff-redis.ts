import type { Redis } from 'ioredis';
import { askRedis } from '@platform/service-kit/redis';
import { day, firstWait, longestWait, type Bucket, type Count } from './backoff-rules.ts';

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
export const createRedisBackoff = (redis: Redis) => ({
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
