import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdOf, type Log } from '../process/log.ts';
import { stopCounting } from '../process/request-scope.ts';
import { headersOf, type Headers } from './headers.ts';
import { problemBody, toProblem } from './problem.ts';
import type { AnyAnswer, Route } from './route.ts';

/** How long the rest of an unread body is read and thrown away. */
const drainMs = 2000;

/** Node.js discards an unread body; up to this size that costs less than a new connection. */
const maxDiscarded = 65_536;

const hasUnreadBody = ({ headers, complete }: IncomingMessage): boolean =>
  !complete &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxDiscarded);

/**
 * Writes a whole answer. When the body of the request was not read to its end, the connection closes afterwards,
 * because the rest would be taken for the next request; the rest is read for a moment, because a sender that is cut off
 * while it writes never reads the answer.
 */
export const send = (
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: Headers,
  payload?: string | Buffer,
): void => {
  stopCounting(req.scope);
  if (!hasUnreadBody(req)) {
    res.writeHead(status, headersOf(req, res, headers));
    // Most answers are ASCII, which Node writes faster when it need not encode it.
    res.end(payload, headers['Content-Length'] === payload?.length ? 'latin1' : 'utf8');
    return;
  }
  res.writeHead(status, headersOf(req, res, { ...headers, Connection: 'close' }));
  if (payload !== undefined) res.write(payload);
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, drainMs);
  req.once('end', end).once('close', end).resume();
};

/**
 * Writes what a handler answered. A `body` is shaped by the schema of its status, so that a field that is not declared
 * never leaves the service; `json` is sent as it is.
 */
export const sendAnswer = (
  req: IncomingMessage,
  res: ServerResponse,
  { responses }: Route,
  answer: AnyAnswer,
): void => {
  const shape = responses[answer.status]?.body;
  const payload = answer.json ?? (shape && JSON.stringify(shape.parse(answer.body)));
  const headers: Record<string, string | number> = { ...answer.headers };
  if (payload !== undefined) {
    headers['Content-Type'] ??= 'application/json; charset=utf-8';
    headers['Content-Length'] = Buffer.byteLength(payload);
  }
  send(req, res, answer.status, headers, payload);
};

/** Answers a request that failed with problem+json, and logs the error when it is the server's fault. */
export type ErrorHandler = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

export const createErrorHandler =
  (log: Log): ErrorHandler =>
  (error, req, res) => {
    const problem = toProblem(error);
    // Refusing has to be cheap; the metrics count refusals.
    if (problem.status >= 500 && problem.code !== 'too_busy')
      log.error({ requestId: requestIdOf(req), err: error }, problem.code);
    if (res.headersSent) {
      // Part of an answer is on the wire; only a broken connection tells the client that it is not whole.
      res.destroy();
      return;
    }
    const body = JSON.stringify(problemBody(problem, requestIdOf(req)));
    const headers = {
      // A 404 may be cached unless it says otherwise, and it may depend on the caller's credential.
      'Cache-Control': 'no-store',
      ...problem.headers,
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(body),
    };
    send(req, res, problem.status, headers, body);
  };
