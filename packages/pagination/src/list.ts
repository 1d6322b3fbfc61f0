import { z } from 'zod';

/** The rows of one page, and whether more follow. */
export interface Slice<T> {
  items: T[];
  hasMore: boolean;
}

/** Cuts up to `limit` + 1 rows to a page; the additional row shows that another page follows. */
export const slice = <T>(rows: readonly T[], limit: number): Slice<T> => ({
  items: rows.slice(0, limit),
  hasMore: rows.length > limit,
});

interface IntegerRange {
  min: number;
  max: number;
  /** The value of an absent parameter. */
  fallback: number;
  description: string;
  /** Format in the OpenAPI document, for numbers that clients read as an int32. */
  format?: 'int32';
}

export const int32Max = 2_147_483_647;

const plainDecimal = /^(?:0|[1-9]\d*)$/;

/** The OpenAPI schema of the parameter: a number, or with a pattern a string that clients read as an int32. */
const documentSchema = ({ min, max, fallback, format }: IntegerRange, pattern?: RegExp) =>
  pattern === undefined
    ? { type: 'integer', ...(format && { format }), minimum: min, maximum: max, default: fallback }
    : {
        type: 'string',
        pattern: pattern.source,
        format: 'int32',
        minimum: min,
        ...(max === int32Max ? {} : { maximum: max }),
        default: String(fallback),
      };

/**
 * A query parameter that is an integer in plain decimal digits: `01`, `+1`, `1.0`, ` 1`, `1e2` and the empty
 * string are rejected. `pattern` allows more notations (never a wider range) and makes the document describe the
 * parameter as a string with this pattern.
 */
export const integerParameter = (range: IntegerRange, pattern?: RegExp) =>
  z
    .string()
    .transform((written, context) => {
      const value = Number(written);
      if (!(pattern ?? plainDecimal).test(written))
        context.addIssue('must be a plain decimal number, such as 1');
      else if (value < range.min || value > range.max)
        context.addIssue(`must be from ${range.min} to ${range.max}`);
      // The pattern accepts `-0`, which equals 0 but is printed and compared differently.
      return value === 0 ? 0 : value;
    })
    .default(range.fallback)
    .meta({ description: range.description, ...documentSchema(range, pattern) });

/** A query parameter that is `true` or `false`; false if absent. */
export const booleanParameter = (description: string) =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .transform((written) => written === 'true')
    .meta({ description, type: 'boolean', default: false });

/** `"<name>":[…]` from rows that are already JSON text. */
const jsonRows = (name: string, rows: readonly string[]): string => `"${name}":[${rows.join(',')}]`;

// page and limit: `{<name>: […], page: {number, has_more, limit}}`

/**
 * `page` and `limit`, to be spread into the strict query object of a list:
 * `z.strictObject({ ...pageLimitQuery, status: … })`. Source: docs/contracts/verify-projects.md.
 */
export const pageLimitQuery = {
  page: integerParameter({ min: 1, max: 100_000, fallback: 1, description: 'Number of the page, from 1' }),
  limit: integerParameter({ min: 1, max: 200, fallback: 50, description: 'Items per page' }),
};

/** The parsed parameters of `pageLimitQuery`. */
export interface PageQuery {
  page: number;
  limit: number;
}

/** OFFSET and LIMIT of a section of a list. */
export interface Window {
  /** Number of rows before it; up to 2^31 × 500, so a bigint. */
  offset: bigint;
  /** The maximum number of rows in it; may be 0. */
  limit: number;
}

export interface Page extends Window {
  /** From 1. */
  number: number;
}

/** The number, length and offset of the requested page. */
export const pageOf = ({ page, limit }: PageQuery): Page => ({
  number: page,
  limit,
  offset: BigInt(page - 1) * BigInt(limit),
});

type PageLimitList<Name extends string, T> = Record<Name, T[]> & {
  page: { number: number; has_more: boolean; limit: number };
};

/** The body of one page of a list. */
export const pageList = <const Name extends string, T>(
  name: Name,
  { number, limit }: Omit<Page, 'offset'>,
  { items, hasMore }: Slice<T>,
) => ({ [name]: items, page: { number, has_more: hasMore, limit } }) as PageLimitList<Name, T>;

/** Reads one page and returns its body. `read` must return up to `limit` + 1 rows. */
export const readPageList = async <const Name extends string, Row>(
  name: Name,
  query: PageQuery,
  read: (page: Page) => PromiseLike<readonly Row[]>,
): Promise<PageLimitList<Name, Row>> => {
  const page = pageOf(query);
  return pageList(name, page, slice(await read(page), page.limit));
};

/** The body of `pageList` as text, from rows that are already JSON text. */
export const pageListJson = (
  name: string,
  { number, limit }: Omit<Page, 'offset'>,
  { items, hasMore }: Slice<string>,
): string => `{${jsonRows(name, items)},"page":{"number":${number},"has_more":${hasMore},"limit":${limit}}}`;

/** The body of a list that is always returned in full, from rows that are already JSON text: one page with all items. */
export const fullListJson = (name: string, items: string[]): string =>
  pageListJson(name, { number: 1, limit: items.length }, { items, hasMore: false });

/** Schema of the body that `pageList`, `pageListJson` and `fullListJson` return. */
export const pageLimitBody = <const Name extends string, Item extends z.ZodType>(name: Name, item: Item) =>
  z.object({
    ...({ [name]: z.array(item) } as Record<Name, z.ZodArray<Item>>),
    page: z.object({
      number: z.int().min(1).meta({ description: 'The page that was asked for' }),
      has_more: z.boolean().meta({ description: 'Whether more pages follow' }),
      limit: z.int().min(0).meta({ description: 'Items per page' }),
    }),
  });

// PageIndex and PageSize: `{index, total, <name>: […]}`

/**
 * `PageIndex` and `PageSize`, to be spread into the strict query object of a list. Callers
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

export interface IndexedPage extends Window {
  /** From 0. */
  index: number;
}

/** The index, offset and limit of the requested page. */
export const indexedPageOf = (query: { PageIndex: number; PageSize: number }): IndexedPage => ({
  index: query.PageIndex,
  limit: query.PageSize,
  offset: BigInt(query.PageIndex) * BigInt(query.PageSize),
});

/**
 * The body of one page as text, from rows that are already JSON text. `total` counts all matching records, in the same
 * snapshot as the items.
 */
export const totalledListJson = (
  name: string,
  { index }: Pick<IndexedPage, 'index'>,
  { items, total }: { items: readonly string[]; total: number },
): string => `{"index":${index},"total":${total},${jsonRows(name, items)}}`;

/** Schema of the body that `totalledListJson` returns. */
export const totalledBody = <const Name extends string, Item extends z.ZodType>(name: Name, item: Item) =>
  z.object({
    index: z.int().min(0).meta({ description: 'The page that was asked for' }),
    total: z.int().min(0).meta({ description: 'Records that match, on all pages together' }),
    ...({ [name]: z.array(item) } as Record<Name, z.ZodArray<Item>>),
  });

// Skip and Take: a bare array

/** The pattern of docs/contracts/quest-service.md; it also accepts `-0`, which is 0. */
const signed = /^-?(?:0|[1-9]\d*)$/;

/**
 * `Skip` and `Take`, to be spread into a strict object; the body is a bare array. Callers write the
 * names in any case: give the route `anyCaseQuery`. Source: docs/contracts/quest-service.md.
 */
export const skipTakeQuery = {
  Skip: integerParameter(
    { min: 0, max: int32Max, fallback: 0, description: 'Number of items to skip before results start' },
    signed,
  ),
  Take: integerParameter(
    { min: 0, max: 1000, fallback: 100, description: 'Number of items to return after skipping' },
    signed,
  ),
};

/** The offset and limit of a request. */
export const windowOf = ({ Skip, Take }: { Skip: number; Take: number }): Window => ({
  offset: BigInt(Skip),
  limit: Take,
});
