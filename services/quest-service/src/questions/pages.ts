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

/** Size of an entry without its JSON, in bytes: key, version, objects and what the allocator needs. Measured. */
const entryBytes = 700;

/**
 * The page with memory of its own. Node.js makes small buffers as parts of a shared block of 64 KiB, of which a cached part
 * would keep all.
 */
const owned = ({ version, json }: Page): Page => {
  if (json.buffer.byteLength === json.length) return { version, json };
  const copy = Buffer.allocUnsafeSlow(json.length);
  json.copy(copy);
  return { version, json: copy };
};

/**
 * Caches serialised pages in up to `bytes` of memory. A key contains the version of its quest, so a
 * cached page is never wrong; pages of old versions are no longer requested and are evicted. Undefined for 0.
 */
export const createPages = (bytes: number): Pages | undefined => {
  if (bytes === 0) return undefined;
  const cache = new LRUCache<string, Page, Read>({
    maxSize: bytes,
    sizeCalculation: ({ json }) => json.buffer.byteLength + entryBytes,
    fetchMethod: async (_key, _stale, { context: read }) => {
      const page = await runOutsideRequest(read);
      return page && owned(page);
    },
    // A page that is evicted while it is read is returned all the same.
    ignoreFetchAbort: true,
  });
  return (key, read) => cache.get(key) ?? cache.fetch(key, { context: read });
};
