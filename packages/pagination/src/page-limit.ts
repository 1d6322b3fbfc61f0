import { z } from 'zod';
import { integerParameter } from './integer.ts';
import type { Slice } from './slice.ts';

/**
 * `page` and `limit`, to be spread into the strict object that a service gives its list:
 * `z.strictObject({ ...pageLimitQuery, status: … })`. Source: docs/contracts/verify-projects.md.
 */
export const pageLimitQuery = {
  page: integerParameter({ min: 1, max: 100_000, fallback: 1, description: 'Number of the page, from 1' }),
  limit: integerParameter({ min: 1, max: 200, fallback: 50, description: 'Items per page' }),
};

export interface Page {
  /** From 1. */
  number: number;
  limit: number;
  /** Rows before the page. */
  offset: bigint;
}

/** The number, length and offset of the requested page. */
export const pageOf = ({ page, limit }: { page: number; limit: number }): Page => ({
  number: page,
  limit,
  offset: BigInt(page - 1) * BigInt(limit),
});

/** `{<name>: [...], page: {number, has_more, limit}}`. */
export type PageLimitList<Name extends string, T> = Record<Name, T[]> & {
  page: { number: number; has_more: boolean; limit: number };
};

/** The body of one page of a list. */
export const pageList = <const Name extends string, T>(
  name: Name,
  { number, limit }: Omit<Page, 'offset'>,
  { items, hasMore }: Slice<T>,
) => ({ [name]: items, page: { number, has_more: hasMore, limit } }) as PageLimitList<Name, T>;

/** The body of a list that is always returned in full: one page with all items. */
export const fullList = <const Name extends string, T>(name: Name, items: T[]) =>
  pageList(name, { number: 1, limit: items.length }, { items, hasMore: false });

/** Shape of a body made by `pageList` or `fullList`. */
export const pageLimitBody = <const Name extends string, Item extends z.ZodType>(name: Name, item: Item) =>
  z.object({
    ...({ [name]: z.array(item) } as Record<Name, z.ZodArray<Item>>),
    page: z.object({
      number: z.int().min(1).meta({ description: 'The page that was asked for' }),
      has_more: z.boolean().meta({ description: 'Whether more pages follow' }),
      limit: z.int().min(0).meta({ description: 'Items per page' }),
    }),
  });
