import { csvLine } from '@platform/service-kit/csv';
import { setFixedHeaders } from '@platform/service-kit/headers';
import { route, type Route } from '@platform/service-kit/route';
import { allowSlowBody } from '@platform/service-kit/server';
import { createPlaces, createSender } from '@platform/service-kit/slow-answer';
import { z } from 'zod';
import { cursorText } from './cursor.ts';
import { filtersOf, nounOf, ownersOf, type ExportedList, type FeedOptions } from './followed-list.ts';
import { endOfLog } from './log.ts';

/** Records of one statement and one write: some hundred kilobytes, so that no export holds much. */
const chunk = 1000;
/** A client that reads nothing for so long is cut off, in ms. */
const idleMs = 30_000;

const inTurn = createPlaces({
  most: 8,
  mostOfCaller: 2,
  code: 'too_many_downloads',
  detail: 'Too many exports are running; try again shortly.',
});

const ndjsonType = 'application/x-ndjson';
const format = z.enum(['ndjson', 'csv']).default('ndjson').meta({ description: 'NDJSON or CSV' });

const ndjson = (records: readonly string[]): string => records.map((json) => `${json}\n`).join('');

/** Objects and arrays are JSON in their cell. */
const csvOf =
  (fields: readonly string[]) =>
  (records: readonly string[]): string =>
    records
      .map((json) => {
        const record = JSON.parse(json) as Record<string, unknown>;
        return csvLine(
          fields.map((field) => {
            const value = record[field] ?? null;
            return typeof value === 'object' && value !== null
              ? JSON.stringify(value)
              : (value as string | number | boolean | null);
          }),
        );
      })
      .join('');

/**
 * Makes `GET /feeds/{service}/{list}/export`: all records, in constant memory and without a transaction that stays open. A
 * record that changes meanwhile may be there as it was or as it is; the feed from the cursor makes up the difference. Source:
 * docs/feed.md.
 */
export const createExport =
  ({ service, database: { sql }, anyCaseQuery = false }: FeedOptions) =>
  <Caller>(exported: ExportedList<Caller>): Route => {
    const { list, tag, auth, item, records } = exported;
    const fields = Object.keys(item.shape);
    return route(
      {
        method: 'get',
        path: `/feeds/${service}/${list}/export`,
        operationId: `export${nounOf(list)}`,
        tag,
        summary: `All ${list}`,
        description:
          'NDJSON, whose first line has the `cursor` from which to follow, or CSV. The records are not those of one moment: ' +
          'who follows from the cursor gets what changed meanwhile. What ends without the end of the body is not complete.',
        auth,
        anyCaseQuery,
        query: z.strictObject({ format, ...filtersOf(exported) }),
        responses: {
          200: {
            description: 'The records',
            body: item,
            mediaType: ndjsonType,
            headers: { 'Feed-Cursor': 'The cursor from which to follow' },
          },
        },
      },
      async ({ caller, query, req, res }) => {
        const isCsv = query.format === 'csv';
        const textOf = isCsv ? csvOf(fields) : ndjson;
        const slice = { owners: ownersOf(exported, query, caller), limit: chunk };
        // It takes as long as the client needs to read it.
        allowSlowBody(req);
        const send = createSender(res, idleMs);
        const sendAll = async (): Promise<void> => {
          const cursor = cursorText(await endOfLog(sql));
          let rows = await records(sql, { ...slice, after: undefined });
          setFixedHeaders(req, res);
          res.setHeader('Content-Type', isCsv ? 'text/csv; charset=utf-8' : ndjsonType);
          res.setHeader('Feed-Cursor', cursor);
          await send(isCsv ? csvLine(fields) : ndjson([JSON.stringify({ cursor })]));
          while (rows.length > 0) {
            await send(textOf(rows.map(({ json }) => json)));
            rows = await records(sql, { ...slice, after: rows.at(-1)?.id });
          }
          res.end();
        };
        await inTurn(auth.keyOf(caller) ?? '', sendAll).catch((error: unknown) => {
          if (!res.headersSent) throw error;
          // The client sees by the missing end of the body that records are missing.
          res.destroy();
        });
        return { status: 200, rawBody: '' };
      },
    );
  };
