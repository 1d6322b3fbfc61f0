import type { IncomingMessage, ServerResponse } from 'node:http';
import { headersOf } from './security-headers.ts';
import { requestIdOf, type Log } from '../process/log.ts';
import { problemBody, toProblem } from './problem.ts';

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Ends a request that failed: with what was thrown as problem+json, and a line where it is our fault. */
export type Fail = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

export const createFail =
  (log: Log): Fail =>
  (error, req, res) => {
    const problem = toProblem(error);
    if (problem.status >= 500) (req.log ?? log).error({ err: error }, problem.code);
    if (res.headersSent) {
      // Half an answer is on the wire; cutting the connection is the only honest end.
      res.destroy();
      return;
    }
    const body = JSON.stringify(problemBody(problem, requestIdOf(req)));
    // A body that was not read to its end would be taken for the next request.
    const close = hasBody(req) && !req.complete ? { Connection: 'close' } : {};
    const headers = {
      // A 404 may be cached unless it says otherwise, and it may depend on the caller's credential.
      'Cache-Control': 'no-store',
      ...problem.headers,
      ...close,
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(body),
    };
    res.writeHead(problem.status, headersOf(req, headers)).end(body);
  };
