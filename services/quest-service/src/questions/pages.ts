import { LRUCache } from 'lru-cache';

/** Some questions of one version of a quest, as they go over the wire. */
export interface Page {
  version: string;
  json: Buffer;
}

export interface Pages {
  /** The page that is kept under `key`, else the one that `read` gives; several who wait share it. */
  get(key: string, read: () => Promise<Page | undefined>): Page | Promise<Page | undefined>;
}

/** What an entry costs beside its bytes, roughly. */
const overhead = 500;

/**
 * Keeps serialised pages in up to `bytes` of memory, those used lately first; undefined for 0. Keys
 * contain a version, so no entry is ever wrong; entries of old versions are no longer requested.
 */
export const createPages = (bytes: number): Pages | undefined => {
  if (bytes === 0) return undefined;
  const kept = new LRUCache<string, Page>({
    maxSize: bytes,
    sizeCalculation: ({ json }) => json.length + overhead,
  });
  const coming = new Map<string, Promise<Page | undefined>>();
  const fetch = async (key: string, read: () => Promise<Page | undefined>) => {
    try {
      const page = await read();
      if (page !== undefined) kept.set(key, page);
      return page;
    } finally {
      coming.delete(key);
    }
  };
  return {
    get: (key, read) => {
      const page = kept.get(key) ?? coming.get(key);
      if (page !== undefined) return page;
      const wanted = fetch(key, read);
      coming.set(key, wanted);
      return wanted;
    },
  };
};
