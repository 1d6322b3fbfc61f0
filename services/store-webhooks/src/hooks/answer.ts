import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemBody, type Problem } from '@platform/service-kit/problem';

/** What one answer is made of; `requestId` goes with all of them. */
export interface HookAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

const json = { 'Content-Type': 'application/json; charset=utf-8' };

/** What a sender gets for nearly everything. */
export const taken: HookAnswer = { status: 200, headers: json, body: '{}' };

export const problemAnswer = (problem: Problem, requestId: string): HookAnswer => ({
  status: problem.status,
  headers: { 'Content-Type': 'application/problem+json', ...problem.headers },
  body: JSON.stringify(problemBody(problem, requestId)),
});

const drainMs = 2000;

/**
 * Lets the rest of a refused body arrive before the connection goes, for a moment: a sender that is
 * cut off while it writes never reads what it was told.
 */
const endAfterRest = (req: IncomingMessage, res: ServerResponse): void => {
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, drainMs);
  req.once('end', end).once('close', end).resume();
};

export const send = (
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers = {}, body = '' }: HookAnswer,
  requestId: string,
): void => {
  const unread = !req.complete;
  // A flat list goes out as it is; an object would be gone through field by field.
  const fields = ['Content-Length', String(Buffer.byteLength(body)), 'X-Request-Id', requestId];
  fields.push('X-Content-Type-Options', 'nosniff');
  if (unread) fields.push('Connection', 'close');
  for (const name in headers) fields.push(name, headers[name] ?? '');
  res.writeHead(status, fields);
  if (!unread) {
    res.end(body);
    return;
  }
  res.write(body);
  endAfterRest(req, res);
};
