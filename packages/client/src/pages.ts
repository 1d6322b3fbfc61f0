import { must, type Answer } from './answer.ts';

/**
 * The items of a list that is read by `Skip` and `Take` (quest-service), page after page as they are asked for. The
 * last page is the first that is not full.
 */
export async function* bySkip<Item>(
  ask: (query: { Skip: string; Take: string }) => Promise<Answer<Item[]>>,
  take = 100,
): AsyncGenerator<Item, void> {
  for (let skip = 0; ; skip += take) {
    const items = await must(ask({ Skip: String(skip), Take: String(take) }));
    yield* items;
    if (items.length < take) return;
  }
}

type Numbered<Name extends string, Item> = Record<Name, Item[]> & { page: { has_more: boolean } };

/** The items of a list that is read by `page` and `limit`, until `has_more` says there are none. */
export async function* byPage<Name extends string, Item>(
  name: Name,
  ask: (query: { page: number; limit: number }) => Promise<Answer<Numbered<Name, Item>>>,
  limit = 50,
): AsyncGenerator<Item, void> {
  for (let page = 1; ; page += 1) {
    const body: Numbered<Name, Item> = await must(ask({ page, limit }));
    yield* body[name];
    if (!body.page.has_more) return;
  }
}

type Counted<Name extends string, Item> = Record<Name, Item[]> & { total: number };

/** The items of a list that is read by `PageIndex` and `PageSize` (consignments), until `total` is reached. */
export async function* byIndex<Name extends string, Item>(
  name: Name,
  ask: (query: { PageIndex: number; PageSize: number }) => Promise<Answer<Counted<Name, Item>>>,
  size = 25,
): AsyncGenerator<Item, void> {
  for (let index = 0; ; index += 1) {
    const body: Counted<Name, Item> = await must(ask({ PageIndex: index, PageSize: size }));
    yield* body[name];
    if (body[name].length === 0 || (index + 1) * size >= body.total) return;
  }
}
