import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import { LRUCache } from 'lru-cache';
import type { Sql } from 'postgres';
import { readOrder, readPage, readTasks, type Listing, type Order } from './list-store.ts';
import type { Task } from './schema.ts';

/** Returns one page of a user's tasks. */
export type Pages = (listing: Listing, page: Page) => Promise<Slice<Task>>;

interface PagesOptions {
  /** Memory for cached orders, in bytes; 0 turns the cache off. */
  bytes: number;
  /** Pages with a smaller offset are read directly, because skipping so few tasks costs nothing. */
  shallow?: number;
}

const idBytes = 16;
/** Ids cached of one list at most (1.6 MB). */
const maxIds = 100_000;
/** Approximate size of a cache entry without its ids. */
const entryBytes = 500;

const idsOf = ({ ids }: Order, from: number, count: number): string[] => {
  const found: string[] = [];
  for (let at = from * idBytes; at < ids.length && found.length < count; at += idBytes) {
    found.push(ids.toString('hex', at, at + idBytes));
  }
  return found;
};

/**
 * PostgreSQL has to skip all tasks before a page. So the first deep page of a list caches the ids of
 * the whole list in order, and later deep pages read their tasks by id. A cached order is valid for one
 * revision of the user's tasks; the statement that reads the tasks returns the current one (ADR 18).
 */
export const createPages = (sql: Sql, { bytes, shallow = 200 }: PagesOptions): Pages => {
  const orders =
    bytes === 0
      ? undefined
      : new LRUCache<string, Order>({
          maxSize: bytes,
          sizeCalculation: ({ ids }) => ids.length + entryBytes,
        });

  /** Undefined when the list is too long to cache, or changes faster than it can be read. */
  const readCached = async (listing: Listing, from: number, count: number): Promise<Task[] | undefined> => {
    const { userId, sort, filters } = listing;
    const key = JSON.stringify([userId, sort, filters]);
    const cached = orders?.get(key);
    const order = cached ?? (await readOrder(sql, listing, maxIds));
    if (cached === undefined) orders?.set(key, order);
    const isComplete = order.ids.length < maxIds * idBytes;
    if (!isComplete && from + count > maxIds) return undefined;
    const { revision, tasks } = await readTasks(sql, userId, idsOf(order, from, count));
    if (revision === order.revision) return tasks;
    orders?.delete(key);
    return cached === undefined ? undefined : readCached(listing, from, count);
  };

  return async (listing, { offset, limit }) => {
    const count = limit + 1;
    const isDeep = orders !== undefined && offset >= shallow && offset < maxIds;
    const tasks = isDeep ? await readCached(listing, Number(offset), count) : undefined;
    return slice(tasks ?? (await readPage(sql, listing, { offset, limit: count })), limit);
  };
};
