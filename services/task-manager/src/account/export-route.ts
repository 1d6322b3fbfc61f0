import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFixedHeaders } from '@platform/service-kit/respond';
import { createPlaces, type Bounds } from '@platform/service-kit/places';
import { stopCounting, withoutDeadline } from '@platform/service-kit/request-scope';
import { route, type Route } from '@platform/service-kit/route';
import { createKeyLimit } from '../auth/address-limit.ts';
import type { Context } from '../context.ts';
import { actorOf } from '../sessions/client.ts';
import { Export } from './export-schema.ts';
import { openExport } from './leaving.ts';

/** Downloads of a process at a time: a slow reader takes a place for minutes. */
const bounds: Bounds = {
  most: 10,
  mostOfCaller: 1,
  mostOfNetwork: 2,
  givesWay: true,
  code: 'too_many_downloads',
  detail: 'Another file is being downloaded; try again when it is there.',
};
/** A reader may pause for as long, and take as long altogether. */
const idleMs = 15_000;
const longestMs = 600_000;

/** Everything about a user as a file, which is written as fast as it is read: it is never in memory as a whole. */
export const exportRoute = (context: Context): Route => {
  const { tokens, env, redis } = context;
  const withPlace = createPlaces(bounds);
  const limit =
    env.RATE_LIMIT === 'on'
      ? createKeyLimit({ redis, prefix: 'task-manager:exports', points: 10, seconds: 3600 })
      : undefined;
  return route(
    {
      method: 'get',
      path: '/auth/me/export',
      operationId: 'exportAccount',
      tag: 'Account',
      summary: 'Everything about you, as a file',
      description: `Ten in an hour, then 429. One at a time, ${bounds.mostOfNetwork} of a network and ${bounds.most} of all users in a process, then 503 \`too_many_downloads\`.`,
      auth: tokens.guard(),
      responses: {
        200: {
          description: 'The file',
          body: Export,
          headers: { 'Content-Disposition': 'The name of the file' },
        },
      },
      problems: [403],
    },
    async ({ req, res, caller }) => {
      await withPlace(caller.subject, async (lost) => {
        await limit?.(caller.subject);
        const pieces = await openExport(context, actorOf(context, { req, caller }));
        withoutDeadline(req);
        stopCounting(req.scope);
        res.setTimeout(idleMs, () => res.destroy());
        setFixedHeaders(req, res);
        res.setHeader('Content-Type', 'application/json; charset=utf-8');
        res.setHeader('Content-Disposition', 'attachment; filename="account.json"');
        // `pipeline` alone adds seven listeners for `close`.
        res.setMaxListeners(20);
        const signal = AbortSignal.any([lost, AbortSignal.timeout(longestMs)]);
        await pipeline(Readable.from(pieces), res, { signal });
      });
      return { status: 200, rawBody: '' };
    },
  );
};
