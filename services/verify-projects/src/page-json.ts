import type { Page } from '@platform/pagination/page-limit';
import type { Slice } from '@platform/pagination/slice';

/** The body that `pageList` would give, from items that are JSON text already. */
export const pageJson = (
  name: string,
  { number, limit }: Omit<Page, 'offset'>,
  { items, hasMore }: Slice<string>,
): string =>
  `{"${name}":[${items.join(',')}],"page":{"number":${number},"has_more":${hasMore},"limit":${limit}}}`;

/** The body that `fullList` would give. */
export const fullJson = (name: string, items: string[]): string =>
  pageJson(name, { number: 1, limit: items.length }, { items, hasMore: false });
