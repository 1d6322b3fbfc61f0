import { pageLimitBody, pageLimitQuery, readPageList, type Page } from '@platform/pagination/list';
import { route, type Guard, type Route } from '@platform/service-kit/route';
import { z } from 'zod';

interface ListSpec<Params, Filters, Item> {
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  auth: Guard<unknown>;
  /** Of the path: what the list belongs to. Where that may be missing, `read` throws NotFound. */
  params?: Params;
  /** Query parameters beside `page` and `limit`. */
  filters?: Filters;
  /** Name of the rows in the body. */
  name: string;
  item: Item;
}

/** An operation that reads one page of a list. `read` gives one row more than the page holds, where there is one. */
export const listRoute = <
  Item extends z.ZodType,
  Params extends z.ZodObject = z.ZodObject,
  Filters extends z.ZodObject = z.ZodObject,
>(
  { name, item, params, filters, ...operation }: ListSpec<Params, Filters, Item>,
  read: (
    page: Page,
    input: { params: z.output<NoInfer<Params>>; query: z.output<NoInfer<Filters>> },
  ) => PromiseLike<readonly z.input<NoInfer<Item>>[]>,
): Route => {
  const query: z.ZodObject = z.strictObject({ ...pageLimitQuery, ...filters?.shape });
  const body: z.ZodType = pageLimitBody(name, item);
  return route(
    {
      ...operation,
      method: 'get',
      params,
      query,
      responses: { 200: { description: 'A page', body } },
      ...(params !== undefined && { problems: [404] }),
    },
    async (input) => {
      // The types of what the schemas above have parsed.
      const parsed = input as unknown as Parameters<typeof read>[1] & {
        query: { page: number; limit: number };
      };
      return { status: 200, body: await readPageList(name, parsed.query, (page) => read(page, parsed)) };
    },
  );
};
