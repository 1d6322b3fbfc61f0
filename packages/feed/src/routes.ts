import { integerParameter } from '@platform/pagination/list';
import { startBackground } from '@platform/service-kit/background';
import type { BaseContext } from '@platform/service-kit/context';
import type { ProblemCodes } from '@platform/service-kit/openapi';
import { Problem } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import { withoutDeadline } from '@platform/service-kit/request-scope';
import { route, type Guard, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { cursorText, parseCursor } from './cursor.ts';
import { moveChanges, readChanges, type ChangesFound, type ChangesPage } from './log.ts';
import { createWatch } from './watch.ts';

export { outdatedChanges } from './log.ts';

/** A list that can be followed. */
export interface FollowedList<Caller> {
  /** Its name, which is that of its table in `installSql`. */
  list: string;
  /** One record in words. */
  name: string;
  /** The tag of its operations in the OpenAPI document. */
  tag: string;
  auth: Guard<Caller>;
  /** An item of the list. */
  item: z.ZodObject;
  /** The query parameter that names an owner, if there is one. */
  filter?: readonly [name: string, schema: z.ZodType<string | undefined>];
  /** The owners whose records the caller may see and has asked for; undefined for all. */
  owners(asked: string | undefined, caller: Caller): readonly string[] | undefined;
  /** The items with these ids that are in the list and that the caller may see, as JSON text. */
  items(sql: Queries, ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, string>>;
}

interface FeedOptions extends Pick<BaseContext, 'database' | 'health'> {
  /** The part of the path after `/feeds`. */
  service: string;
  /** How many days changes are kept. */
  days: number;
  /** Parameter names are matched without regard to case. */
  anyCaseQuery?: boolean;
}

/** The settings of a feed. */
export const feedEnv = {
  /** How many days the changes of lists are kept for those who follow them. */
  FEED_DAYS: z.coerce.number().int().min(1).max(365).default(30),
};

const nounOf = (list: string): string => `${list.charAt(0).toUpperCase()}${list.slice(1)}`;

const cursor = z.string().transform((text, context) => {
  const parsed = parseCursor(text);
  if (parsed === undefined) context.addIssue('must be a cursor, the `next` of an earlier answer');
  return parsed;
});

/** The problem codes of the routes of these lists. */
export const feedCodes = (...lists: readonly string[]): ProblemCodes =>
  Object.fromEntries(
    lists.map((list) => [`follow${nounOf(list)}`, { 410: ['cursor_unknown', 'cursor_expired'] }]),
  );

const gone = {
  unknown: 'This feed has never given this cursor, perhaps because its database was restored.',
  expired: 'The changes after this cursor are no longer kept.',
};

const pageOrThrow = (page: ChangesPage) => {
  if (typeof page !== 'string') return page;
  const detail = `${gone[page]} Ask for a new cursor without \`after\`, read the whole list, and go on from that cursor.`;
  throw new Problem({ status: 410, code: `cursor_${page}`, detail });
};

const maxWait = 25;

const query = {
  after: cursor.optional().meta({
    description:
      '`next` of the answer before. Without it there are no changes in the answer, and `next` is the end of the feed',
    type: 'string',
  }),
  limit: integerParameter({ min: 1, max: 1000, fallback: 100, description: 'Changes at most' }),
  wait: integerParameter({
    min: 0,
    max: maxWait,
    fallback: 0,
    description: 'Seconds that the answer may wait for a change where there is none yet',
  }),
};

const changesOf = (id: string, item: z.ZodObject) =>
  z
    .object({
      changes: z.array(
        z.object({
          id: z.string(),
          action: z.enum(['created', 'updated', 'deleted']),
          version: z.int().meta({ description: 'Grows with each change of a record' }),
          changedAt: instant(),
          item: item
            .optional()
            .meta({ description: 'The record as its list shows it now; absent when it is gone' }),
        }),
      ),
      next: z.string().meta({ description: 'The cursor of the next request' }),
      has_more: z.boolean(),
    })
    .meta({ id });

/**
 * Makes `GET /feeds/{service}/{list}` of lists: the changes in an order that misses none, and the cursor behind them. The
 * pages end with what was committed before the request of the last one. Source: docs/feed.md.
 */
export const createFeed = ({
  service,
  database: { sql },
  health,
  days,
  anyCaseQuery = false,
}: FeedOptions) => {
  const watch = createWatch(sql, () => health.draining);
  return <Caller>({ list, name, tag, auth, item, filter, owners, items }: FollowedList<Caller>): Route => {
    const filters = filter ? { [filter[0]]: filter[1] } : {};
    const noun = nounOf(list);
    const bodyOf = async ({ changes, next, hasMore }: ChangesFound, caller: Caller): Promise<string> => {
      const ids = new Set(changes.filter(({ action }) => action !== 'deleted').map(({ id }) => id));
      const found = ids.size > 0 ? await items(sql, [...ids], caller) : new Map<string, string>();
      const lines = changes.map((change) => {
        const json = change.action === 'deleted' ? undefined : found.get(change.id);
        return json === undefined
          ? JSON.stringify(change)
          : `${JSON.stringify(change).slice(0, -1)},"item":${json}}`;
      });
      return `{"changes":[${lines.join(',')}],"next":"${cursorText(next)}","has_more":${hasMore}}`;
    };
    return route(
      {
        method: 'get',
        path: `/feeds/${service}/${list}`,
        operationId: `follow${noun}`,
        tag,
        summary: `Changes of ${list}`,
        description:
          `Every change of a ${name} comes after the one before it, at least once. ` +
          'A `deleted` also comes when the record is given to somebody whose records the caller does not see.',
        auth,
        anyCaseQuery,
        query: z.strictObject({ ...query, ...filters }),
        responses: { 200: { description: 'The changes', body: changesOf(`${noun}Changes`, item) } },
        problems: [410],
      },
      async ({ caller, query: asked, req }) => {
        const { limit, wait } = asked;
        const owner = filter && (asked as Record<string, unknown>)[filter[0]];
        const wanted = owners(owner as string | undefined, caller);
        if (wait > 0) withoutDeadline(req);
        const end = performance.now() + wait * 1000;
        for (let { after } = asked; ;) {
          const isBehind = await moveChanges(sql);
          const page = pageOrThrow(await readChanges(sql, { list, after, owners: wanted, limit, days }));
          const hasMore = page.hasMore || isBehind;
          const left = end - performance.now();
          const isOver = after === undefined || left <= 0 || health.draining;
          if (page.changes.length > 0 || hasMore || isOver)
            return { status: 200, rawBody: await bodyOf({ ...page, hasMore }, caller) };
          after = page.next;
          await watch.changed(after.position, left);
        }
      },
    );
  };
};

/** Keeps the log in step while nobody follows it, until the context of the service, which is returned, is disposed of. */
export const withFeed = <Context extends BaseContext>(context: Context): Context => {
  const { database, log, resources } = context;
  const run = () => moveChanges(database.sql);
  resources.use(startBackground({ name: 'change feed', everyMs: 1000, idleMs: 10_000, log, run }));
  return context;
};
