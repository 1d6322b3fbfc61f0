import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFixedHeaders } from '@platform/service-kit/headers';
import { widestNetworkOf } from '@platform/service-kit/network';
import { Unavailable } from '@platform/service-kit/problem';
import { stopCounting, withoutDeadline } from '@platform/service-kit/request-scope';
import { route, type Route } from '@platform/service-kit/route';
import { createKeyLimit } from '../auth/address-limit.ts';
import type { Context } from '../context.ts';
import { actorOf } from '../sessions/client.ts';
import { Export } from './export-schema.ts';
import { openExport } from './leaving.ts';

/** Downloads of a process at a time, of which a network has few and a user one: a slow reader takes a place for minutes. */
const maxDownloads = 10;
const maxOfNetwork = 2;
/** A reader may pause for as long, and take as long altogether. */
const idleMs = 15_000;
const longestMs = 600_000;

/** Everything about a user as a file, which is written as fast as it is read: it is never in memory as a whole. */
export const exportRoute = (context: Context): Route => {
  const { tokens, env, redis } = context;
  const limit =
    env.RATE_LIMIT === 'on'
      ? createKeyLimit({ redis, prefix: 'task-manager:exports', points: 10, seconds: 3600 })
      : undefined;
  /** Networks by user. */
  const downloading = new Map<string, string>();
  return route(
    {
      method: 'get',
      path: '/auth/me/export',
      operationId: 'exportAccount',
      tag: 'Account',
      summary: 'Everything about you, as a file',
      description: `Ten in an hour, then 429. One at a time, ${maxOfNetwork} of a network and ${maxDownloads} of all users in a process, then 503 \`too_many_downloads\`.`,
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
      const { subject } = caller;
      await limit?.(subject);
      const network = widestNetworkOf(context.clientAddress(req));
      const ofNetwork = [...downloading.values()].filter((one) => one === network).length;
      if (downloading.has(subject) || downloading.size >= maxDownloads || ofNetwork >= maxOfNetwork)
        throw new Unavailable(
          'too_many_downloads',
          'Another file is being downloaded; try again when it is there.',
        );
      downloading.set(subject, network);
      try {
        const pieces = await openExport(context, actorOf(context, { req, caller }));
        withoutDeadline(req);
        stopCounting(req.scope);
        res.setTimeout(idleMs, () => res.destroy());
        setFixedHeaders(req, res);
        res.setHeader('Content-Type', 'application/json; charset=utf-8');
        res.setHeader('Content-Disposition', 'attachment; filename="account.json"');
        // `pipeline` alone adds seven listeners for `close`.
        res.setMaxListeners(20);
        await pipeline(Readable.from(pieces), res, { signal: AbortSignal.timeout(longestMs) });
      } finally {
        downloading.delete(subject);
      }
      return { status: 200, rawBody: '' };
    },
  );
};
