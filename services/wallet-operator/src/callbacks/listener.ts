import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { makeRequestId } from '@platform/service-kit/log';
import type { Context } from '../context.ts';
import { readBody } from './body.ts';
import { callbacks, type Callback } from './parse.ts';
import { answerCallback, type CallbackAnswer } from './use-cases.ts';

/** The value of a header. One that was sent twice has both, joined by a comma, which no signature matches. */
const header = (req: IncomingMessage, name: string): string | undefined => {
  const value = req.headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** Reads one callback and has it answered. Rejects when the sender went away before its body was complete. */
export const takeCallback = (
  context: Context,
  callback: Callback,
  req: IncomingMessage,
): Promise<CallbackAnswer> =>
  readBody(req).then((body) =>
    answerCallback(context, {
      callback,
      path: `/callback/${callback}`,
      timestamp: header(req, 'x-timestamp'),
      signature: header(req, 'x-hmac-sha256'),
      body,
    }),
  );

const write = (res: ServerResponse, requestId: string, answer: CallbackAnswer): void => {
  const { status, headers = {}, json } = answer;
  const length = Buffer.byteLength(json);
  res.writeHead(status, [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(length),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'X-Request-Id',
    requestId,
    ...Object.entries(headers).flat(),
  ]);
  // Most answers are ASCII, which needs no conversion.
  res.end(json, length === json.length ? 'latin1' : 'utf8');
};

/**
 * The short path of the callbacks: what is exactly one of them goes from the socket to the ledger; all else about
 * these addresses (other methods, queries) and all other addresses are `next`'s. Express with its log, headers and
 * router costs as much as everything here together.
 */
export const callbackListener = (context: Context, next: RequestListener): RequestListener => {
  const byTarget = new Map(callbacks.map((callback) => [`/callback/${callback}`, callback]));
  const { log, metrics } = context;

  const answer = async (
    callback: Callback,
    route: string,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> => {
    const start = performance.now();
    const requestId = makeRequestId(req);
    let status = 499;
    try {
      const answered = await takeCallback(context, callback, req);
      ({ status } = answered);
      write(res, requestId, answered);
    } catch (err) {
      // Half a request gets no answer: nothing was decided.
      log.warn({ err, requestId, route }, 'the request broke off');
      res.destroy();
    }
    const ms = performance.now() - start;
    metrics.record('POST', route, status, ms);
    // What was accepted is in the ledger; a line for each would cost more than deciding it.
    if (status !== 200) log.info({ requestId, route, status, ms }, 'answered');
  };

  return (req, res) => {
    const target = req.url ?? '';
    const callback = req.method === 'POST' ? byTarget.get(target) : undefined;
    if (callback === undefined || req.headers.host === undefined) next(req, res);
    else void answer(callback, target, req, res);
  };
};
