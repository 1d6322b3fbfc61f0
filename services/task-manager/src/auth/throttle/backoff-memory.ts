import { createLru } from '@platform/service-kit/lru';
import { day, waitSeconds, type Bucket, type Count } from './backoff-rules.ts';

const maxBuckets = 100_000;

/** As in Redis (backoff-redis.ts); times in seconds of `performance.now`. */
interface Stored {
  used: number;
  waits: number;
  until: number;
  expiresAt: number;
}

/** Counts failures in this process, with the same rules as the scripts for Redis. */
export const createMemoryBackoff = () => {
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
