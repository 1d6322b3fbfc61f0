import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { LRUCache } from 'lru-cache';

/** Some questions of one version of a quest, serialised. */
export interface Page {
  version: string;
  json: Buffer;
}

type Read = () => Promise<Page | undefined>;

/** Returns the page cached under `key`, else the one that `read` returns; concurrent callers share it. */
export type Pages = (key: string, read: Read) => Page | Promise<Page | undefined>;

/** Measured size of an entry without its JSON, in bytes: key, version, objects and overhead of the allocator. */
const entryBytes = 700;

/**
 * The page with its own memory. Node.js allocates small buffers in a shared block of 64 KiB, and a cached part would keep the
 * whole block in memory.
 */
const withOwnMemory = ({ version, json }: Page): Page => {
  if (json.buffer.byteLength === json.length) return { version, json };
  const copy = Buffer.allocUnsafeSlow(json.length);
  json.copy(copy);
  return { version, json: copy };
};

const sizeCalculation = ({ json }: Page): number => json.buffer.byteLength + entryBytes;

/**
 * Caches serialised pages in up to `bytes` of memory. A key contains the version of its quest, so a
 * cached page is never wrong; pages of old versions are no longer requested and are evicted. Undefined for 0.
 *
 * Pages larger than a 32nd have a quarter of the memory, so that they evict each other and not many others.
 */
export const createPages = (bytes: number): Pages | undefined => {
  if (bytes === 0) return undefined;
  const large = new LRUCache<string, Page>({ maxSize: Math.ceil(bytes / 4), sizeCalculation });
  const cache = new LRUCache<string, Page, Read>({
    maxSize: Math.ceil((bytes * 3) / 4),
    maxEntrySize: Math.ceil(bytes / 32),
    sizeCalculation,
    fetchMethod: async (key, _stale, { context: read }) => {
      const page = await runOutsideRequest(read);
      if (page === undefined) return undefined;
      const cached = withOwnMemory(page);
      if (sizeCalculation(cached) > cache.maxEntrySize) large.set(key, cached);
      return cached;
    },
    // A page that is evicted while it is read is still returned.
    ignoreFetchAbort: true,
  });
  return (key, read) => cache.get(key) ?? large.get(key) ?? cache.fetch(key, { context: read });
};
