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
 * that holds the items. Use `iterateChanges` for projects: a project that changes moves to the end of their list, so a
 * reader by page number misses the project that takes its place.
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
 * `modified_after`, so that no change is missed while it reads. An item that changes meanwhile is returned again.
 *
 * `since` is the highest `updated_at` that an earlier call has returned; the item with that time is returned again. Without
 * `since`, all items are returned.
 */
export async function* iterateChanges<Name extends string, Item extends Versioned>(
  name: Name,
  fetchPage: (query: ChangesQuery) => Promise<ApiResult<PageLimitBody<Name, Item>>>,
  since?: string,
  limit = 200,
): AsyncGenerator<Item, void> {
  let modifiedAfter = since;
  /** Items returned since `modifiedAfter` was set, as JSON: they are read again, and a change may have the same time. */
  let returned = new Set<string>();
  let isNew = false;
  for (let page = 1; ;) {
    const query = { page, limit, ...(modifiedAfter !== undefined && { modified_after: modifiedAfter }) };
    const body: PageLimitBody<Name, Item> = await unwrap(fetchPage(query));
    const last = body[name].at(-1)?.updated_at ?? modifiedAfter;
    for (const item of body[name]) {
      const content = JSON.stringify(item);
      if (returned.has(content)) continue;
      yield item;
      returned.add(content);
      isNew ||= item.updated_at === modifiedAfter;
    }
    const isTimeRead = last !== modifiedAfter || !body.page.has_more;
    if (isTimeRead && page > 1 && isNew) {
      // A changed item left its page and another one took its place: read again until nothing is new.
      [page, isNew] = [1, false];
      continue;
    }
    if (!body.page.has_more) return;
    // A page number is needed only among items that all have the same time.
    page = isTimeRead ? 1 : page + 1;
    if (!isTimeRead) continue;
    const lastItems = body[name].filter((item) => item.updated_at === last);
    [modifiedAfter, returned, isNew] = [last, new Set(lastItems.map((item) => JSON.stringify(item))), false];
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
