import { z } from 'zod';
import { int32Max, integerParameter } from './integer.ts';

/**
 * `PageIndex` and `PageSize`, to be spread into the strict object that a service gives its list. Callers
 * write the names in any case: give the route `anyCaseQuery`. Source: docs/contracts/consignments.md; PageIndex ends
 * at int32 by our choice.
 */
export const pageIndexQuery = {
  PageIndex: integerParameter({
    min: 0,
    max: int32Max,
    fallback: 0,
    description: 'Index of the page, from 0',
    format: 'int32',
  }),
  PageSize: integerParameter({ min: 1, max: 500, fallback: 25, description: 'Records per page' }),
};

export interface IndexedPage {
  /** From 0. */
  index: number;
  limit: number;
  /** Rows before the page; reaches 2^31 × 500, beyond int32 but never rounded. */
  offset: bigint;
}

/** Where the page asked for begins and how long it is. */
export const indexedPageOf = (query: { PageIndex: number; PageSize: number }): IndexedPage => ({
  index: query.PageIndex,
  limit: query.PageSize,
  offset: BigInt(query.PageIndex) * BigInt(query.PageSize),
});

/** `{index, total, <name>: [...]}`. */
export type TotalledList<Name extends string, T> = Record<Name, T[]> & { index: number; total: number };

/** The body of one page; `total` counts all records that match, in the snapshot the items come from. */
export const totalledList = <const Name extends string, T>(
  name: Name,
  { index }: Pick<IndexedPage, 'index'>,
  { items, total }: { items: T[]; total: number },
) => ({ index, total, [name]: items }) as TotalledList<Name, T>;

/** Shape of a body made by `totalledList`. */
export const totalledBody = <const Name extends string, Item extends z.ZodType>(name: Name, item: Item) =>
  z.object({
    index: z.int().min(0).meta({ description: 'The page that was asked for' }),
    total: z.int().min(0).meta({ description: 'Records that match, on all pages together' }),
    ...({ [name]: z.array(item) } as Record<Name, z.ZodArray<Item>>),
  });
