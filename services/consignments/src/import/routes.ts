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
import { holdAnswer } from './answer.ts';
import { piecesOf } from './pieces.ts';
import { importBounds, readerBounds } from './places.ts';
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

/** Throws ValidationFailed that names each wrong header. */
const importHeadersOf = ({ headers }: IncomingMessage) => {
  const { success, data, error } = ImportHeaders.safeParse(
    Object.fromEntries(Object.keys(ImportHeaders.shape).map((name) => [name, headers[name.toLowerCase()]])),
  );
  if (success) return data;
  const errors = {};
  collectIssues(errors, error.issues, 'headers');
  throw new ValidationFailed(errors);
};

const beginAnswer = (req: IncomingMessage, res: ServerResponse): void => {
  setFixedHeaders(req, res);
  res.setHeader('Content-Type', ndjson);
};

const stopLine = (line: number, reason: unknown): string => {
  const { code, message } = toProblem(reason);
  const detail = `${message} The import has stopped: line ${line} and those after it are not confirmed.`;
  return `${JSON.stringify({ line, error: code, detail, stopped: true })}\n`;
};

/** A client that is still sending would lose the end of the response if the connection was closed now. */
const letFinish = async (body: Readable): Promise<void> => {
  if (body.readableEnded) return;
  body.resume();
  await Promise.race([once(body, 'close'), sleep(1000)]);
};

/** In bytes, some thousand lines. Lines that arrive while others are stored form the next batches. */
const readAhead = 262_144;

const reasonToEnd = ({ health }: Context, lost: AbortSignal): Problem | undefined => {
  if (health.draining) return new Unavailable('shutting_down', 'This instance is being stopped.');
  const why = 'Others, who have fewer imports, need its place.';
  return lost.aborted ? new Unavailable(importBounds.code, why) : undefined;
};

const importBody = async (
  ctx: Context,
  caller: Caller,
  { req, res, lost }: { req: IncomingMessage; res: ServerResponse; lost: AbortSignal },
) => {
  const { 'Import-Id': importId = v7(), 'Import-First-Line': firstLine } = importHeadersOf(req);
  const key = importKeyOf(caller, importId);
  allowSlowBody(req);
  beginAnswer(req, res);
  res.setHeader('Import-Id', importId);
  res.setHeader('Connection', 'close');
  const body = pipeline(req, new PassThrough({ highWaterMark: readAhead }), () => undefined);
  const send = createSender(res, ctx.importLimits.idleMs);
  // nginx does not resume reading a paused request body after the response has begun (docs/adr/0057).
  const answer = holdAnswer(firstLine, send, (from, to) => readResults(ctx, key, from, to));
  // An error here also fails the next result, which is awaited.
  const onQuiet = () => void answer.release().catch(() => undefined);
  // Who takes nothing would not see the end for long.
  lost.addEventListener('abort', () => res.writableNeedDrain && res.destroy());
  const patience = { ...ctx.importLimits, onQuiet, reasonToEnd: () => reasonToEnd(ctx, lost) };
  const pieces = piecesOf(body, patience);
  try {
    for await (const confirmed of importConsignments(ctx, caller, importId, pieces, firstLine)) {
      await answer.confirm(confirmed);
      if (req.complete) await answer.release();
    }
    await answer.release();
  } catch (error) {
    // The client has closed the connection.
    if (res.closed) return;
    const line = await answer.end();
    if (!res.headersSent) throw error;
    res.write(stopLine(line, error));
  }
  await letFinish(body);
};

export const importRoutes = (ctx: Context): Route[] => {
  const asImport = createFairSlots(importBounds);
  const asReader = createFairSlots(readerBounds);
  return [
    route(
      {
        method: 'post',
        path: '/consignments/import',
        operationId: 'importConsignments',
        tag: 'Consignments',
        summary: 'Import consignments',
        description:
          'NDJSON both ways: one consignment a line in, one result a line out, in the same order. Results ' +
          'come when the body has been received, or when it stands still for a second. A bad line does not ' +
          'stop the rest; blank lines are passed over. A last line with `stopped` says that the import has ' +
          'ended early. With `Import-Id`, any part of the body can be sent again for 24 hours: a line that ' +
          'has created a consignment creates no second one.',
        auth: ctx.writer,
        headers: {
          'Import-Id':
            'Names the import; 1 to 128 letters, digits or characters of `._~:-`. Of each number of a line only the ' +
            'first valid one is stored. It takes the place of Idempotency-Key. The service makes one if it is left out.',
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
            headers: { 'Import-Id': 'The import, to read its results again' },
          },
        },
        problems: [408, 413, 415, 422],
      },
      async ({ caller, req, res }) => {
        // Not a fast route, so the request is that of Express.
        refuseOtherTypes(req as Request);
        await asImport(caller.subject, (lost) => importBody(ctx, caller, { req, res, lost }));
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
          'NDJSON, one result a line, in the order of lines. A result can be read for 24 hours, by the caller ' +
          'who has sent the line. While the import is running, the results so far.',
        auth: ctx.writer,
        params: ImportPath,
        query: ResultsQuery,
        anyCaseQuery: true,
        responses: { 200: { description: 'Result lines', body: ImportResult, mediaType: ndjson } },
        problems: [404],
      },
      async ({ caller, params: { importId }, query: { FirstLine }, req, res }) => {
        // It takes as long as the client needs to read it.
        allowSlowBody(req);
        const send = createSender(res, ctx.importLimits.idleMs);
        const key = importKeyOf(caller, importId);
        let isEmpty = true;
        await asReader(caller.subject, async (lost) => {
          lost.addEventListener('abort', () => res.destroy());
          for await (const { text } of readResults(ctx, key, FirstLine)) {
            if (isEmpty) beginAnswer(req, res);
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
