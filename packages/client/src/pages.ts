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
 * that holds the items.
 */
export async function* iteratePageLimit<Name extends string, Item>(
  name: Name,
  fetchPage: (query: { page: number; limit: number }) => Promise<ApiResult<PageLimitBody<Name, Item>>>,
  limit = 50,
): AsyncGenerator<Item, void> {
  for (let page = 1; ; page += 1) {
    const body: PageLimitBody<Name, Item> = await unwrap(fetchPage({ page, limit }));
    yield* body[name];
    if (!body.page.has_more) return;
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
