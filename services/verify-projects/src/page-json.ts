import type { Page } from '@platform/pagination/page-limit';
import type { Slice } from '@platform/pagination/slice';

/** Returns the body of `pageList` for items that are already JSON text. */
export const pageJson = (
  name: string,
  { number, limit }: Omit<Page, 'offset'>,
  { items, hasMore }: Slice<string>,
): string =>
  `{"${name}":[${items.join(',')}],"page":{"number":${number},"has_more":${hasMore},"limit":${limit}}}`;

/** Returns the body of `fullList` for items that are already JSON text. */
export const fullJson = (name: string, items: string[]): string =>
  pageJson(name, { number: 1, limit: items.length }, { items, hasMore: false });
