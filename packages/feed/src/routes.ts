import { integerParameter } from '@platform/pagination/list';
import { startBackground } from '@platform/service-kit/background';
import type { BaseContext } from '@platform/service-kit/context';
import type { ProblemCodes } from '@platform/service-kit/openapi';
import { Problem } from '@platform/service-kit/problem';
import { withoutDeadline } from '@platform/service-kit/request-scope';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { cursorText, parseCursor } from './cursor.ts';
import { createExport } from './export.ts';
import { filtersOf, nounOf, ownersOf, type FeedOptions, type FollowedList } from './followed-list.ts';
import { moveChanges, readChanges, type ChangesFound, type ChangesPage } from './log.ts';
import { createWatch } from './watch.ts';

export type { FollowedList } from './followed-list.ts';
export { outdatedChanges } from './log.ts';

/** The settings of a feed. */
export const feedEnv = {
  /** How many days the changes of lists are kept for those who follow them. */
  FEED_DAYS: z.coerce.number().int().min(1).max(365).default(30),
};

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
  const detail = `${gone[page]} Export the list, and go on from the cursor of the export.`;
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
 * Makes `GET /feeds/{service}/{list}`: the changes in an order that misses none, and the cursor behind them. The
 * pages end with what was committed before the request of the last one. Source: docs/feed.md.
 */
const createFollow = ({ service, database: { sql }, health, days, anyCaseQuery = false }: FeedOptions) => {
  const watch = createWatch(sql, () => health.draining);
  return <Caller>(followed: FollowedList<Caller>): Route => {
    const { list, name, tag, auth, item, items } = followed;
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
        query: z.strictObject({ ...query, ...filtersOf(followed) }),
        responses: { 200: { description: 'The changes', body: changesOf(`${noun}Changes`, item) } },
        problems: [410],
      },
      async ({ caller, query: asked, req }) => {
        const { limit, wait } = asked;
        const owners = ownersOf(followed, asked, caller);
        if (wait > 0) withoutDeadline(req);
        const end = performance.now() + wait * 1000;
        for (let { after } = asked; ;) {
          const isBehind = await moveChanges(sql);
          const page = pageOrThrow(await readChanges(sql, { list, after, owners, limit, days }));
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

/** Makes the routes by which a list is exported and followed. */
export const createFeed = (options: FeedOptions) => {
  const exportOf = createExport(options);
  const followOf = createFollow(options);
  return <Caller>(list: FollowedList<Caller>): Route[] => [exportOf(list), followOf(list)];
};

/** Keeps the log in step while nobody follows it, until the context of the service, which is returned, is disposed of. */
export const withFeed = <Context extends BaseContext>(context: Context): Context => {
  const { database, log, resources } = context;
  const run = () => moveChanges(database.sql);
  resources.use(startBackground({ name: 'change feed', everyMs: 1000, idleMs: 10_000, log, run }));
  return context;
};
