import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '@platform/auth/bearer';
import { refuseEncoding } from '@platform/service-kit/body';
import { collectIssues } from '@platform/service-kit/field-errors';
import { createSender, setFixedHeaders } from '@platform/service-kit/respond';
import { NotFound, Problem, toProblem, Unavailable, ValidationFailed } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { allowSlowBody } from '@platform/service-kit/server';
import { createFairSlots } from '@platform/service-kit/fair-slots';
import type { Request } from 'express';
import { v7 } from 'uuid';
import { ConsignmentInput } from '../consignments/schema.ts';
import type { Context } from '../context.ts';
import { createResultSender } from './answer.ts';
import { piecesOf } from './pieces.ts';
import { importLimits, readerLimits } from './slots.ts';
import { ImportHeaders, ImportPath, ImportResult, ResultsQuery } from './schema.ts';
import { importConsignments, importKeyOf, readResults } from './use-cases.ts';

const ndjson = 'application/x-ndjson';

const refuseOtherTypes = (req: Request): void => {
  if (!req.is(ndjson)) {
    const detail = `Send the body as ${ndjson} in UTF-8.`;
    throw new Problem({ status: 415, code: 'unsupported_media_type', detail });
  }
  refuseEncoding(req);
};

/** Validates the headers of an import. Throws ValidationFailed with each invalid header. */
const importHeadersOf = ({ headers }: IncomingMessage) => {
  const { success, data, error } = ImportHeaders.safeParse(
    Object.fromEntries(Object.keys(ImportHeaders.shape).map((name) => [name, headers[name.toLowerCase()]])),
  );
  if (success) return data;
  const errors = {};
  collectIssues(errors, error.issues, 'headers');
  throw new ValidationFailed(errors);
};

const beginResponse = (req: IncomingMessage, res: ServerResponse): void => {
  setFixedHeaders(req, res);
  res.setHeader('Content-Type', ndjson);
};

const stopLine = (line: number, reason: unknown): string => {
  const { code, message } = toProblem(reason);
  const detail = `${message} The import has stopped: line ${line} and those after it are not confirmed.`;
  return `${JSON.stringify({ line, error: code, detail, stopped: true })}\n`;
};

/** Waits up to a second for the end of the body: a client that is still sending may lose the end of the response. */
const waitForEnd = async (body: Readable): Promise<void> => {
  if (body.readableEnded) return;
  body.resume();
  await Promise.race([once(body, 'close'), sleep(1000)]);
};

/** Bytes of the body (some thousand lines) that are buffered for the next batches while lines are stored. */
const bufferBytes = 262_144;

const reasonToEnd = ({ health }: Context, lost: AbortSignal): Problem | undefined => {
  if (health.draining) return new Unavailable('shutting_down', 'This instance is being stopped.');
  const detail = 'A caller with fewer imports needs its slot.';
  return lost.aborted ? new Unavailable(importLimits.code, detail) : undefined;
};

const importBody = async (
  ctx: Context,
  caller: Caller,
  { req, res, lost }: { req: IncomingMessage; res: ServerResponse; lost: AbortSignal },
) => {
  const { 'Import-Id': importId = v7(), 'Import-First-Line': firstLine } = importHeadersOf(req);
  const key = importKeyOf(caller, importId);
  allowSlowBody(req);
  beginResponse(req, res);
  res.setHeader('Import-Id', importId);
  res.setHeader('Connection', 'close');
  const body = pipeline(req, new PassThrough({ highWaterMark: bufferBytes }), () => undefined);
  const send = createSender(res, ctx.importLimits.idleMs);
  // nginx does not resume reading a paused request body after the response has begun (docs/adr/0057).
  const results = createResultSender(firstLine, send, (from, to) => readResults(ctx, key, from, to));
  // An error here also fails the next result, which is awaited.
  const onQuiet = () => void results.release().catch(() => undefined);
  // A client that does not read the response would delay the end of the import.
  lost.addEventListener('abort', () => res.writableNeedDrain && res.destroy());
  const idleOptions = { ...ctx.importLimits, onQuiet, reasonToEnd: () => reasonToEnd(ctx, lost) };
  const pieces = piecesOf(body, idleOptions);
  try {
    for await (const confirmed of importConsignments(ctx, caller, importId, pieces, firstLine)) {
      await results.confirm(confirmed);
      if (req.complete) await results.release();
    }
    await results.release();
  } catch (error) {
    // The client has closed the connection.
    if (res.closed) return;
    const line = await results.end();
    if (!res.headersSent) throw error;
    res.write(stopLine(line, error));
  }
  await waitForEnd(body);
};

export const importRoutes = (ctx: Context): Route[] => {
  const withImportSlot = createFairSlots(importLimits);
  const withReaderSlot = createFairSlots(readerLimits);
  return [
    route(
      {
        method: 'post',
        path: '/consignments/import',
        operationId: 'importConsignments',
        tag: 'Consignments',
        summary: 'Import consignments',
        description:
          'The request has one consignment per line, the response one result per line, in the same order. ' +
          'Results are sent when the whole body has been received, or when no data arrives for a second. An ' +
          'invalid line does not stop the import; blank lines are ignored. A last line with `stopped` means ' +
          'that the import ended early. With `Import-Id`, any part of the body can be sent again within 24 ' +
          'hours: a line that has created a consignment does not create a second one.',
        auth: ctx.writer,
        headers: {
          'Import-Id':
            'Id of the import: 1 to 128 letters, digits or characters of `._~:-`; generated if omitted. For each line ' +
            'number, only the first valid line is stored. Use it instead of Idempotency-Key.',
          'Import-First-Line': 'Number of the first line of this body in the import (default 1)',
        },
        body: {
          schema: ConsignmentInput,
          example: {
            consignmentNumber: 'CN-2',
            clientId: '0198c5a0-7e57-7000-8a00-000000000000',
            clientName: 'Van Dijk Flowers',
          },
          types: [ndjson],
          raw: true,
        },
        responses: {
          200: {
            description: 'Result lines',
            body: ImportResult,
            mediaType: ndjson,
            headers: { 'Import-Id': 'Id of the import, to read its results again' },
          },
        },
        problems: [408, 413, 415, 422],
      },
      async ({ caller, req, res }) => {
        // This is not a fast route, so `req` is a request of Express.
        refuseOtherTypes(req as Request);
        await withImportSlot(caller.subject, (lost) => importBody(ctx, caller, { req, res, lost }));
        res.end();
        return { status: 200, rawBody: '' };
      },
    ),
    route(
      {
        method: 'get',
        path: '/consignments/imports/{importId}/results',
        operationId: 'getImportResults',
        tag: 'Consignments',
        summary: 'The results of an import, by line',
        description:
          'NDJSON, one result per line, in the order of lines. The caller who sent a line can read its result ' +
          'for 24 hours. While the import is running, it returns the results so far.',
        auth: ctx.writer,
        params: ImportPath,
        query: ResultsQuery,
        anyCaseQuery: true,
        responses: { 200: { description: 'Result lines', body: ImportResult, mediaType: ndjson } },
        problems: [404],
      },
      async ({ caller, params: { importId }, query: { FirstLine }, req, res }) => {
        // The response takes as long as the client needs to read it.
        allowSlowBody(req);
        const send = createSender(res, ctx.importLimits.idleMs);
        const key = importKeyOf(caller, importId);
        let isEmpty = true;
        await withReaderSlot(caller.subject, async (lost) => {
          lost.addEventListener('abort', () => res.destroy());
          for await (const { text } of readResults(ctx, key, FirstLine)) {
            if (isEmpty) beginResponse(req, res);
            isEmpty = false;
            await send(text);
          }
        }).catch((error: unknown) => {
          if (!res.closed) throw error;
        });
        if (isEmpty) throw new NotFound('import with results from that line on');
        res.end();
        return { status: 200, rawBody: '' };
      },
    ),
  ];
};
