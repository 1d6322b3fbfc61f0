import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import { LRUCache } from 'lru-cache';
import type { Sql } from 'postgres';
import { readOrder, readPage, readTasks, type Listing, type Order } from './list-store.ts';
import type { Task } from './schema.ts';

/** Gives one page of a user's tasks. */
export type Pages = (listing: Listing, page: Page) => Promise<Slice<Task>>;

interface PagesOptions {
  /** Memory for orders. */
  bytes: number;
  /** Pages that begin before this many tasks are read directly: passing over so few costs nothing. */
  shallow?: number;
}

const idBytes = 16;
/** Ids of one listing that are kept at most (1.6 MB). */
const longest = 100_000;
/** What an entry costs beside its ids, roughly. */
const overhead = 500;

const idsOf = ({ ids }: Order, from: number, count: number): string[] => {
  const found: string[] = [];
  for (let at = from * idBytes; at < ids.length && found.length < count; at += idBytes) {
    found.push(ids.toString('hex', at, at + idBytes));
  }
  return found;
};

/**
 * Pages by number cost what lies before them, however it is indexed. So the order of a listing is
 * kept after its first deep page, and later deep pages are cut from it. It holds as long as the
 * revision of the user's tasks, which every answer is checked against in the same statement.
 */
export const createPages = (sql: Sql, { bytes, shallow = 200 }: PagesOptions): Pages => {
  const orders =
    bytes === 0
      ? undefined
      : new LRUCache<string, Order>({
          maxSize: bytes,
          sizeCalculation: ({ ids }) => ids.length + overhead,
        });

  const cut = async (listing: Listing, from: number, count: number): Promise<Task[] | undefined> => {
    const { userId, sort, filters } = listing;
    const key = JSON.stringify([userId, sort, filters]);
    const kept = orders?.get(key);
    const order = kept ?? (await readOrder(sql, listing, longest));
    if (kept === undefined) orders?.set(key, order);
    const complete = order.ids.length < longest * idBytes;
    if (!complete && from + count > longest) return undefined;
    const { revision, tasks } = await readTasks(sql, userId, idsOf(order, from, count));
    if (revision === order.revision) return tasks;
    orders?.delete(key);
    return kept === undefined ? undefined : cut(listing, from, count);
  };

  return async (listing, { offset, limit }) => {
    const count = limit + 1;
    const deep = orders !== undefined && offset >= shallow && offset < longest;
    const tasks = deep ? await cut(listing, Number(offset), count) : undefined;
    return slice(tasks ?? (await readPage(sql, listing, { offset, limit: count })), limit);
  };
};
