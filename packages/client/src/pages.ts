import { unwrap, type ApiResult } from './result.ts';

/**
 * Iterates over the items of a list with `Skip` and `Take` (quest-service) and requests the next page when it is
 * needed. A page with fewer items than `take` is the last one.
 */
export async function* iterateSkipTake<Item>(
  fetchPage: (query: { Skip: string; Take: string }) => Promise<ApiResult<Item[]>>,
  take = 100,
): AsyncGenerator<Item, void> {
  for (let skip = 0; ; skip += take) {
    const items = await unwrap(fetchPage({ Skip: String(skip), Take: String(take) }));
    yield* items;
    if (items.length < take) return;
  }
}

type PageLimitBody<Name extends string, Item> = Record<Name, Item[]> & { page: { has_more: boolean } };

/**
 * Iterates over the items of a list with `page` and `limit`, until `has_more` is false. `name` is the field of the body
 * that holds the items. Projects are read by `iterateChanges`: an item that changes moves to the end of their list, so that
 * a reader by page number misses the item that takes its place.
 */
export async function* iteratePageLimit<Name extends string, Item>(
  name: Name extends 'projects' ? never : Name,
  fetchPage: (query: { page: number; limit: number }) => Promise<ApiResult<PageLimitBody<Name, Item>>>,
  limit = 50,
): AsyncGenerator<Item, void> {
  for (let page = 1; ; page += 1) {
    const body: PageLimitBody<Name, Item> = await unwrap(fetchPage({ page, limit }));
    yield* body[name];
    if (!body.page.has_more) return;
  }
}

interface Versioned {
  id: string;
  updated_at: string;
}

/** Parameters of a page of changes. */
export interface ChangesQuery {
  page: number;
  limit: number;
  modified_after?: string;
}

/**
 * Iterates over the items of a list in the order of `updated_at` (projects of verify-projects) and follows them by
 * `modified_after`, so that no change is missed while it reads. An item that changes meanwhile comes again.
 *
 * `since` is the highest `updated_at` that an earlier call has returned; without it, all items come. The item that had it
 * comes again.
 */
export async function* iterateChanges<Name extends string, Item extends Versioned>(
  name: Name,
  fetchPage: (query: ChangesQuery) => Promise<ApiResult<PageLimitBody<Name, Item>>>,
  since?: string,
  limit = 200,
): AsyncGenerator<Item, void> {
  let seen = since;
  /** Contents of the items returned since `seen` was set, which are read again; a later change may have the same time. */
  let given = new Set<string>();
  let isNew = false;
  for (let page = 1; ;) {
    const query = { page, limit, ...(seen !== undefined && { modified_after: seen }) };
    const body: PageLimitBody<Name, Item> = await unwrap(fetchPage(query));
    const last = body[name].at(-1)?.updated_at ?? seen;
    for (const item of body[name]) {
      const content = JSON.stringify(item);
      if (given.has(content)) continue;
      yield item;
      given.add(content);
      isNew ||= item.updated_at === seen;
    }
    const isOver = last !== seen || !body.page.has_more;
    if (isOver && page > 1 && isNew) {
      // An item that was changed left its page, and the next one took its place: read again until nothing is new.
      [page, isNew] = [1, false];
      continue;
    }
    if (!body.page.has_more) return;
    // A page number is needed only among items that have all the same time.
    page = isOver ? 1 : page + 1;
    if (!isOver) continue;
    const atLast = body[name].filter((item) => item.updated_at === last);
    [seen, given, isNew] = [last, new Set(atLast.map((item) => JSON.stringify(item))), false];
  }
}

type PageIndexBody<Name extends string, Item> = Record<Name, Item[]> & { total: number };

/**
 * Iterates over the items of a list with `PageIndex` and `PageSize` (consignments), until `total` is reached. `name` is
 * the field of the body that holds the items.
 */
export async function* iteratePageIndex<Name extends string, Item>(
  name: Name,
  fetchPage: (query: {
    PageIndex: number;
    PageSize: number;
  }) => Promise<ApiResult<PageIndexBody<Name, Item>>>,
  size = 25,
): AsyncGenerator<Item, void> {
  for (let index = 0; ; index += 1) {
    const body: PageIndexBody<Name, Item> = await unwrap(fetchPage({ PageIndex: index, PageSize: size }));
    yield* body[name];
    if (body[name].length === 0 || (index + 1) * size >= body.total) return;
  }
}
