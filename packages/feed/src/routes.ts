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
import { asksForEvents, credentialCheckMs, eventStream, sendEvents } from './events.ts';
import { createExport } from './export.ts';
import { callerKey, filtersOf, nounOf, type FeedOptions, type FollowedList } from './followed-list.ts';
import { createReaders, type SeenPage } from './reader.ts';

export type { FollowedList } from './followed-list.ts';
export { outdatedChanges } from './log.ts';

/** The settings of a feed. */
export const feedEnv = {
  /** Number of days for which changes are kept. */
  FEED_DAYS: z.coerce.number().int().min(1).max(365).default(30),
  /** Maximum number of event streams and waiting requests of a process: a fifth for one caller, half for one network. Each uses one of MAX_CONNECTIONS. */
  FEED_STREAMS: z.coerce.number().int().min(1).default(1000),
};

const cursorError = 'must be a cursor: the `next` of an earlier response';

const cursor = z.string().transform((text, context) => {
  const parsed = parseCursor(text);
  if (parsed === undefined) context.addIssue(cursorError);
  return parsed;
});

/** The problem codes of the routes of these lists. */
export const feedCodes = (...lists: readonly string[]): ProblemCodes =>
  Object.fromEntries(
    lists.map((list) => [`follow${nounOf(list)}`, { 410: ['cursor_unknown', 'cursor_expired'] }]),
  );

const maxWaitSeconds = 25;

/** A stream that is behind reads small pages, because its client may be slow. */
const streamLimits = { limit: 100, sharedLimit: Infinity };

const lastEventId = ({ headers }: IncomingMessage): Cursor | undefined => {
  const { 'last-event-id': id } = headers;
  if (id === undefined || id === '') return undefined;
  const parsed = parseCursor(String(id));
  if (parsed === undefined) throw new ValidationFailed({ 'Last-Event-ID': [cursorError] });
  return parsed;
};

const bodyOf = ({ changes, next, hasMore }: SeenPage): string =>
  `{"changes":[${changes.map(({ json }) => json).join(',')}],"next":"${cursorText(next)}","has_more":${hasMore}}`;

const feedQuery = {
  after: cursor.optional().meta({
    description:
      '`next` of the previous response. Without it the response has no changes, and `next` is the end of the feed',
    type: 'string',
  }),
  limit: integerParameter({ min: 1, max: 1000, fallback: 100, description: 'Maximum number of changes' }),
  wait: integerParameter({
    min: 0,
    max: maxWaitSeconds,
    fallback: 0,
    description: 'Maximum seconds to wait for a change if there is none yet',
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
            .meta({ description: 'The current record, as in its list; absent if it was deleted' }),
        }),
      ),
      next: z.string().meta({ description: 'The cursor of the next request' }),
      has_more: z.boolean(),
    })
    .meta({ id });

const exampleEvent = 'id: AZ…\nevent: updated\ndata: {"id":"…","action":"updated",…}\n\n';

/**
 * Creates the route `GET /feeds/{service}/{list}`: the changes in an order that misses none, and the cursor after them. Reading
 * until `has_more` is false returns everything that was committed before the last request. Source: docs/feed.md.
 */
const createFollow = (options: FeedOptions) => {
  const { service, health, maxStreams = 1000, anyCaseQuery = false } = options;
  const createReaderOf = createReaders(options);
  const runInSlot = createFairSlots({
    max: maxStreams,
    maxPerCaller: Math.ceil(maxStreams / 5),
    maxPerNetwork: Math.ceil(maxStreams / 2),
    code: 'too_many_readers',
    detail: 'Too many readers are waiting; try again later, or send the request without `wait`.',
    preemptible: true,
  });
  return <Caller>(followed: FollowedList<Caller>): Route => {
    const { list, name, tag, auth, item } = followed;
    const noun = nounOf(list);
    const createReader = createReaderOf(followed);
    return route(
      {
        method: 'get',
        basePath: '/v1',
        path: `/feeds/${service}/${list}`,
        operationId: `follow${noun}`,
        tag,
        summary: `Changes of ${list}`,
        description:
          `The changes of each ${name} are in order, and each is delivered at least once. ` +
          'The action `deleted` also means that the record now belongs to an owner whose records the caller may not see. With ' +
          `\`Accept: ${eventStream}\` the response is a stream of events; \`limit\` and \`wait\` are ignored.`,
        auth,
        anyCaseQuery,
        query: z.strictObject({ ...feedQuery, ...filtersOf(followed) }),
        headers: { 'Last-Event-ID': 'For a stream: the `id` of the last event, instead of `after`' },
        responses: {
          200: {
            description: 'The changes',
            body: changesOf(`${noun}Changes`, item),
            otherTypes: { [eventStream]: z.string().meta({ example: exampleEvent }) },
          },
        },
        problems: [410],
      },
      async ({ caller, query, req, res }) => {
        const { wait, limit } = query;
        if (asksForEvents(req)) {
          const after = lastEventId(req) ?? query.after;
          const reader = createReader({ req, caller, query, after, ...streamLimits });
          await runInSlot(callerKey(auth, caller), (preempted) => {
            // A client that reads nothing would keep the connection open, so it is closed.
            preempted.addEventListener('abort', () => res.writableNeedDrain && res.destroy());
            return sendEvents(reader, () => health.draining || preempted.aborted, { req, res });
          });
          return { status: 200, rawBody: '' };
        }
        const reader = createReader({ req, caller, query, after: query.after, limit });
        const end = performance.now() + wait * 1000;
        const readPage = async (preempted?: AbortSignal) => {
          for (let page = await reader.read(); ;) {
            const remainingMs = end - performance.now();
            const mayWait =
              query.after !== undefined && remainingMs > 0 && !health.draining && !res.destroyed;
            if (page.changes.length > 0 || page.hasMore || !mayWait || preempted?.aborted)
              return { status: 200, rawBody: bodyOf(page) } as const;
            if (await reader.wait(Math.min(remainingMs, credentialCheckMs))) page = await reader.read();
          }
        };
        if (wait === 0) return readPage();
        withoutDeadline(req);
        // Needs a slot, because a waiting request holds a connection, as a stream does.
        return runInSlot(callerKey(auth, caller), readPage);
      },
    );
  };
};

/** Creates a function that returns the routes of a list: its export and its feed. */
export const createFeed = (options: FeedOptions) => {
  const createExportRoute = createExport(options);
  const createFollowRoute = createFollow(options);
  return <Caller>(list: FollowedList<Caller>): Route[] => [createExportRoute(list), createFollowRoute(list)];
};

/** Moves changes to the log in the background, even if nobody reads the feed, until the context is disposed of. Returns the context. */
export const withFeed = <Context extends BaseContext>(context: Context): Context => {
  const { database, log, resources } = context;
  const run = () => moveChanges(database.sql);
  resources.use(startBackground({ name: 'change feed', everyMs: 1000, idleMs: 10_000, log, run }));
  return context;
};
