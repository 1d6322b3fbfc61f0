import { setFixedHeaders } from '@platform/service-kit/headers';
import { currentRequest } from '@platform/service-kit/request-scope';
import { route, type Route } from '@platform/service-kit/route';
import { allowSlowBody } from '@platform/service-kit/server';
import { createPlaces, createSender } from '@platform/service-kit/slow-answer';
import { z } from 'zod';
import { cursorText } from './cursor.ts';
import { filtersOf, nounOf, ownersOf, type FollowedList, type FeedOptions } from './followed-list.ts';
import { endOfLog } from './log.ts';

/** Records of one statement and one write: some hundred kilobytes, so that no export holds much. */
const chunk = 1000;
/** A client that reads nothing for so long is cut off, in ms. */
const idleMs = 30_000;

const withPlace = createPlaces({
  most: 8,
  mostOfCaller: 2,
  code: 'too_many_downloads',
  detail: 'Too many exports are running; try again shortly.',
});

/** Sorts before every id, be it a UUID or begin with a letter. */
const beforeAll = '00000000-0000-0000-0000-000000000000';

const ndjsonType = 'application/x-ndjson';

/**
 * Makes `GET /feeds/{service}/{list}/export`: all records, in constant memory and without a transaction that stays open. A
 * record that changes meanwhile may be there as it was or as it is; the feed from the cursor makes up the difference. Source:
 * docs/feed.md.
 */
export const createExport =
  ({ service, database: { sql }, anyCaseQuery = false }: FeedOptions) =>
  <Caller>(exported: FollowedList<Caller>): Route => {
    const { list, tag, auth, item, records } = exported;
    return route(
      {
        method: 'get',
        path: `/feeds/${service}/${list}/export`,
        operationId: `export${nounOf(list)}`,
        tag,
        summary: `All ${list}`,
        description:
          'NDJSON, whose first line has the `cursor` from which to follow. The records are not those of one moment: ' +
          'who follows from the cursor gets what changed meanwhile. What ends without the end of the body is not complete.',
        auth,
        anyCaseQuery,
        query: z.strictObject(filtersOf(exported)),
        responses: {
          200: {
            description: 'The records',
            body: z.union([z.object({ cursor: z.string() }), item]),
            mediaType: ndjsonType,
            headers: { 'Feed-Cursor': 'The cursor from which to follow' },
          },
        },
      },
      async ({ caller, query, req, res }) => {
        const slice = { owners: ownersOf(exported, query, caller), limit: chunk };
        // It takes as long as the client needs to read it.
        allowSlowBody(req);
        const send = createSender(res, idleMs);
        const sendAll = async (): Promise<void> => {
          const cursor = cursorText(await endOfLog(sql));
          let rows = await records(sql, { ...slice, after: beforeAll });
          setFixedHeaders(req, res);
          res.setHeader('Content-Type', ndjsonType);
          res.setHeader('Feed-Cursor', cursor);
          await send(`${JSON.stringify({ cursor })}\n`);
          for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
            await send(rows.map(({ json }) => `${json}\n`).join(''));
            rows = await records(sql, { ...slice, after: last.id });
          }
          res.end();
        };
        // Callers without a credential share the places of their network.
        const who = auth.keyOf(caller) ?? currentRequest()?.network ?? '';
        await withPlace(who, sendAll).catch((error: unknown) => {
          if (!res.headersSent) throw error;
          // The client sees by the missing end of the body that records are missing.
          res.destroy();
        });
        return { status: 200, rawBody: '' };
      },
    );
  };
