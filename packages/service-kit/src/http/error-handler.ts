import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdOf, type Log } from '../process/log.ts';
import { problemBody, toProblem } from './problem.ts';
import { send } from './respond.ts';

/** Answers a request that failed with problem+json, and logs the error when it is the server's fault. */
export type ErrorHandler = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

export const createErrorHandler =
  (log: Log): ErrorHandler =>
  (error, req, res) => {
    const problem = toProblem(error);
    if (problem.status >= 500) (req.log ?? log).error({ err: error }, problem.code);
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
