import type { IncomingMessage } from 'node:http';
import { integerParameter } from '@platform/pagination/list';
import { startBackground } from '@platform/service-kit/background';
import type { BaseContext } from '@platform/service-kit/context';
import type { ProblemCodes } from '@platform/service-kit/openapi';
import { createFairSlots } from '@platform/service-kit/fair-slots';
import { ValidationFailed } from '@platform/service-kit/problem';
import { withoutDeadline } from '@platform/service-kit/request-scope';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { cursorText, moveChanges, parseCursor, type Cursor } from './log.ts';
import { asksForEvents, eventStream, lookMs, sendEvents } from './events.ts';
import { createExport } from './export.ts';
import { callerKey, filtersOf, nounOf, type FeedOptions, type FollowedList } from './followed-list.ts';
import { createReaders, type SeenPage } from './reader.ts';

export type { FollowedList } from './followed-list.ts';
export { outdatedChanges } from './log.ts';

/** The settings of a feed. */
export const feedEnv = {
  /** How many days the changes of lists are kept for those who follow them. */
  FEED_DAYS: z.coerce.number().int().min(1).max(365).default(30),
  /** Event streams and waiting requests that a process holds open; one caller gets at most a fifth, one network half. Each uses one of MAX_CONNECTIONS. */
  FEED_STREAMS: z.coerce.number().int().min(1).default(1000),
};

const noCursor = 'must be a cursor, the `next` of an earlier answer';

const cursor = z.string().transform((text, context) => {
  const parsed = parseCursor(text);
  if (parsed === undefined) context.addIssue(noCursor);
  return parsed;
});

/** The problem codes of the routes of these lists. */
export const feedCodes = (...lists: readonly string[]): ProblemCodes =>
  Object.fromEntries(
    lists.map((list) => [`follow${nounOf(list)}`, { 410: ['cursor_unknown', 'cursor_expired'] }]),
  );

const maxWait = 25;

/** A stream that is behind reads little at a time, because its client may take it slowly. */
const pagesOfStream = { limit: 100, sharedLimit: Infinity };

const lastEventOf = ({ headers }: IncomingMessage): Cursor | undefined => {
  const { 'last-event-id': id } = headers;
  if (id === undefined || id === '') return undefined;
  const parsed = parseCursor(String(id));
  if (parsed === undefined) throw new ValidationFailed({ 'Last-Event-ID': [noCursor] });
  return parsed;
};

const bodyOf = ({ changes, next, hasMore }: SeenPage): string =>
  `{"changes":[${changes.map(({ json }) => json).join(',')}],"next":"${cursorText(next)}","has_more":${hasMore}}`;

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

const exampleEvent = 'id: AZ…\nevent: updated\ndata: {"id":"…","action":"updated",…}\n\n';

/**
 * Makes `GET /feeds/{service}/{list}`: the changes in an order that misses none, and the cursor behind them. Reading until
 * `has_more` is false returns everything that was committed before the last request. Source: docs/feed.md.
 */
const createFollow = (options: FeedOptions) => {
  const { service, health, maxStreams = 1000, anyCaseQuery = false } = options;
  const readersOf = createReaders(options);
  const withPlace = createFairSlots({
    max: maxStreams,
    maxPerCaller: Math.ceil(maxStreams / 5),
    maxPerNetwork: Math.ceil(maxStreams / 2),
    code: 'too_many_readers',
    detail: 'Too many readers wait here; try again later, or ask without `wait`.',
    preemptible: true,
  });
  return <Caller>(followed: FollowedList<Caller>): Route => {
    const { list, name, tag, auth, item } = followed;
    const noun = nounOf(list);
    const open = readersOf(followed);
    return route(
      {
        method: 'get',
        basePath: '/v1',
        path: `/feeds/${service}/${list}`,
        operationId: `follow${noun}`,
        tag,
        summary: `Changes of ${list}`,
        description:
          `Changes of one ${name} come in order, each at least once. ` +
          'A `deleted` also comes when the record is given to somebody whose records the caller does not see. With ' +
          `\`Accept: ${eventStream}\` the changes are a stream of events, without \`limit\` and \`wait\`.`,
        auth,
        anyCaseQuery,
        query: z.strictObject({ ...query, ...filtersOf(followed) }),
        headers: { 'Last-Event-ID': 'Of a stream: the `id` of the last event, instead of `after`' },
        responses: {
          200: {
            description: 'The changes',
            body: changesOf(`${noun}Changes`, item),
            otherTypes: { [eventStream]: z.string().meta({ example: exampleEvent }) },
          },
        },
        problems: [410],
      },
      async ({ caller, query: asked, req, res }) => {
        const { wait, limit } = asked;
        if (asksForEvents(req)) {
          const after = lastEventOf(req) ?? asked.after;
          const reader = open({ req, caller, query: asked, after, ...pagesOfStream });
          await withPlace(callerKey(auth, caller), (lost) => {
            // Who takes nothing would not see the end for long.
            lost.addEventListener('abort', () => res.writableNeedDrain && res.destroy());
            return sendEvents(reader, () => health.draining || lost.aborted, { req, res });
          });
          return { status: 200, rawBody: '' };
        }
        const reader = open({ req, caller, query: asked, after: asked.after, limit });
        const end = performance.now() + wait * 1000;
        const answer = async (lost?: AbortSignal) => {
          for (let page = await reader.read(); ;) {
            const left = end - performance.now();
            const mayWait = asked.after !== undefined && left > 0 && !health.draining && !res.destroyed;
            if (page.changes.length > 0 || page.hasMore || !mayWait || lost?.aborted)
              return { status: 200, rawBody: bodyOf(page) } as const;
            if (await reader.wait(Math.min(left, lookMs))) page = await reader.read();
          }
        };
        if (wait === 0) return answer();
        withoutDeadline(req);
        // A waiting request holds a connection, as a stream does.
        return withPlace(callerKey(auth, caller), answer);
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
