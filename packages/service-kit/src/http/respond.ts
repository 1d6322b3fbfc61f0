import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErasedAnswer, Route } from './route.ts';
import { headersOf } from './security-headers.ts';

/** How long the rest of an unread body is read and thrown away. */
const drainMs = 2000;

const hasUnreadBody = ({ headers, complete }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

/**
 * Writes a whole answer. When the body of the request was not read to its end, the connection closes
 * afterwards, because the rest would be taken for the next request; the rest is read for a moment,
 * because a sender that is cut off while it writes never reads the answer.
 */
export const send = (
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: Record<string, string | number>,
  payload?: string | Buffer,
): void => {
  const unread = hasUnreadBody(req);
  if (unread) headers['Connection'] = 'close';
  res.writeHead(status, headersOf(req, res, headers));
  if (!unread) {
    res.end(payload);
    return;
  }
  if (payload !== undefined) res.write(payload);
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, drainMs);
  req.once('end', end).once('close', end).resume();
};

/**
 * Writes what a handler answered. A `body` is shaped by the schema of its status, so that a field
 * that is not declared never leaves the service; `json` is sent as it is.
 */
export const sendAnswer = (
  req: IncomingMessage,
  res: ServerResponse,
  { responses }: Route,
  answer: ErasedAnswer,
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
