import { once } from 'node:events';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { setFixedHeaders } from '@platform/service-kit/headers';
import { allowSlowBody } from '@platform/service-kit/server';
import type { Request } from 'express';
import type { Context } from '../context.ts';
import { holdAnswer } from './answer.ts';
import { piecesOf } from './pieces.ts';
import { ImportLine, ImportResult } from './schema.ts';
import { importConsignments } from './use-cases.ts';

const ndjson = 'application/x-ndjson';

const refuseOtherTypes = (req: Request): void => {
  if (!req.is(ndjson)) {
    const detail = `Send the body as ${ndjson} in UTF-8.`;
    throw new Problem({ status: 415, code: 'unsupported_media_type', detail });
  }
  if (!/^(?:identity)?$/i.test(req.headers['content-encoding'] ?? '')) {
    const detail = 'Send the body without a content encoding.';
    throw new Problem({ status: 415, code: 'unsupported_encoding', detail });
  }
};

/** A client that is still sending would lose the end of the response if the connection was closed now. */
const letFinish = async (body: Readable): Promise<void> => {
  if (body.readableEnded) return;
  body.resume();
  await Promise.race([once(body, 'close'), sleep(1000)]);
};

/** In bytes, some thousand lines. Lines that arrive while others are stored form the next batch. */
const readAhead = 262_144;

export const importRoute = (ctx: Context): Route =>
  route(
    {
      method: 'post',
      path: '/consignments/import',
      operationId: 'importConsignments',
      tag: 'Consignments',
      summary: 'Create consignments from a stream of lines',
      description:
        'NDJSON both ways: one consignment a line in, one result a line out, in the same order. Results ' +
        'come when the body has been received, or when it stands still for a second. A bad line does not ' +
        'stop the rest; blank lines are passed over. A last line with `stopped` says that the import has ' +
        'ended early.',
      caller: ctx.writer,
      body: {
        schema: ImportLine,
        example: {
          consignmentNumber: 'CN-2',
          clientId: '0198c5a0-7e57-7000-8a00-000000000000',
          clientName: 'Van Dijk Flowers',
        },
        types: [ndjson],
        raw: true,
      },
      responses: { 200: { description: 'Result lines', body: ImportResult, mediaType: ndjson } },
      problems: [408, 413, 415],
    },
    async ({ req, res }) => {
      // Not a fast route, so the request is that of Express.
      refuseOtherTypes(req as Request);
      allowSlowBody(req);
      setFixedHeaders(req, res);
      res.setHeader('Content-Type', ndjson);
      res.setHeader('Connection', 'close');
      const body = pipeline(req, new PassThrough({ highWaterMark: readAhead }), () => undefined);
      // nginx does not resume reading a paused request body after the response has begun (docs/adr/0057).
      await using answer = holdAnswer(res);
      // An error here also fails the next result, which is awaited.
      const onQuiet = () => void answer.release().catch(() => undefined);
      const isDraining = () => ctx.health.draining;
      const pieces = piecesOf(body, { ...ctx.importLimits, onQuiet, isDraining });
      try {
        for await (const text of importConsignments(ctx, pieces)) {
          await answer.add(text);
          if (req.complete) await answer.release();
        }
        await answer.release();
        await letFinish(body);
      } catch (error) {
        // The client has closed the connection.
        if (!res.closed) throw error;
      }
      res.end();
      return { status: 200, json: '' };
    },
  );
