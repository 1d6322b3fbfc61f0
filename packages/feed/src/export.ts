import type { IncomingMessage } from 'node:http';
import { createGzip } from 'node:zlib';
import { csvLine } from '@platform/service-kit/csv';
import { createSender, setFixedHeaders } from '@platform/service-kit/respond';
import { route, type Route } from '@platform/service-kit/route';
import { allowSlowBody } from '@platform/service-kit/server';
import { runAsNewRequest } from '@platform/service-kit/queue-turns';
import { createFairSlots } from '@platform/service-kit/fair-slots';
import { z } from 'zod';
import { cursorText, endOfLog } from './log.ts';
import {
  callerKey,
  filtersOf,
  nounOf,
  ownersOf,
  type FollowedList,
  type FeedOptions,
} from './followed-list.ts';

/** Maximum number of records per statement and write: some hundred kilobytes, so that an export uses little memory. */
const batchSize = 250;
/** A client that reads nothing for this long is disconnected, in ms. */
const idleMs = 30_000;

const runInSlot = createFairSlots({
  max: 16,
  maxPerCaller: 2,
  maxPerNetwork: 4,
  preemptible: true,
  code: 'too_many_downloads',
  detail: 'Too many exports are running; try again shortly.',
});

/** Sorts before every record id. */
const beforeAllIds = '00000000-0000-0000-0000-000000000000';

const types = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const;

const format = z
  .enum(['ndjson', 'csv'])
  .default('ndjson')
  .meta({ description: 'CSV starts with a line of field names; objects and lists are JSON in a cell' });

/** The first line of a format, and a function that formats a record (JSON text) as a line. */
const writerOf = (chosenFormat: keyof typeof types, item: z.ZodObject, cursor: string) => {
  if (chosenFormat === 'ndjson')
    return { head: `${JSON.stringify({ cursor })}\n`, lineOf: (json: string) => `${json}\n` };
  const names = Object.keys(item.shape);
  const lineOf = (json: string): string => {
    const record = JSON.parse(json) as Record<string, string | number | boolean | object | null>;
    return csvLine(
      names.map((name) => {
        const value = record[name] ?? null;
        return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      }),
    );
  };
  return { head: csvLine(names), lineOf };
};

const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  (headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.split(';'))
    .some(([name = '', weight = '']) => name.trim() === 'gzip' && !/^ ?q=0(?:\.0*)?$/.test(weight));

/**
 * Creates the route `GET /feeds/{service}/{list}/export`: all records, in constant memory and without a long transaction. A
 * record that changes during the export may be in its old or new state; the feed from the cursor contains the change. Source:
 * docs/feed.md.
 */
export const createExport =
  ({ service, database: { sql }, anyCaseQuery = false }: FeedOptions) =>
  <Caller>(exported: FollowedList<Caller>): Route => {
    const { list, tag, auth, item, records } = exported;
    return route(
      {
        method: 'get',
        basePath: '/v1',
        path: `/feeds/${service}/${list}/export`,
        operationId: `export${nounOf(list)}`,
        tag,
        summary: `All ${list}`,
        description:
          'NDJSON, whose first line has the `cursor` from which to follow, or CSV; compressed if the client accepts gzip. The export is not a snapshot: ' +
          'follow from the cursor to get the changes made during the export. A body that is cut off is incomplete.',
        auth,
        anyCaseQuery,
        query: z.strictObject({ format, ...filtersOf(exported) }),
        responses: {
          200: {
            description: 'The records',
            body: z.union([z.object({ cursor: z.string() }), item]),
            mediaType: types.ndjson,
            otherTypes: { 'text/csv': z.string().meta({ example: csvLine(Object.keys(item.shape)) }) },
            headers: { 'Feed-Cursor': 'The cursor from which to follow' },
          },
        },
      },
      async ({ caller, query, req, res }) => {
        const slice = { owners: ownersOf(exported, query, caller), limit: batchSize };
        // Has no deadline, because the duration depends on the client.
        allowSlowBody(req);
        const sendAll = async (preempted: AbortSignal): Promise<void> => {
          preempted.addEventListener('abort', () => res.destroy());
          const cursor = cursorText(await endOfLog(sql));
          const read = (after: string) => runAsNewRequest(() => records(sql, { ...slice, after }, caller));
          let rows = await read(beforeAllIds);
          const { head, lineOf } = writerOf(query.format, item, cursor);
          setFixedHeaders(req, res);
          res.setHeader('Content-Type', types[query.format]);
          res.setHeader('Feed-Cursor', cursor);
          res.appendHeader('Vary', 'Accept-Encoding');
          const body = acceptsGzip(req) ? createGzip({ level: 1 }) : res;
          if (body !== res) {
            res.setHeader('Content-Encoding', 'gzip');
            body.pipe(res);
            res.once('close', () => body.destroy());
          }
          // Sends the headers now, because compressed data may reach the response only at the end.
          res.flushHeaders();
          const send = createSender(res, idleMs, body);
          await send(head);
          for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
            await send(rows.map(({ json }) => lineOf(json)).join(''));
            rows = await read(last.id);
          }
          body.end();
        };
        await runInSlot(callerKey(auth, caller), sendAll).catch((error: unknown) => {
          if (!res.headersSent) throw error;
          // Closes the connection, so that the client notices that the body is incomplete.
          res.destroy();
        });
        return { status: 200, rawBody: '' };
      },
    );
  };
