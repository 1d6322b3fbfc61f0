import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAccess } from './access-log.ts';
import { requestIdOf, requestLog, type Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { BadRequest, Problem } from './problem.ts';

declare module 'node:http' {
  interface ServerResponse {
    /** Template of the route that answers: what logs, metrics and traces call it. */
    template?: string;
  }
}

/** Longer request targets are 414; Node itself gives up at 16 kB of headers in all. */
const maxTarget = 8192;

const refuseOddRequest = (req: IncomingMessage, target: string): void => {
  if (target.length > maxTarget)
    throw new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' });
  // Node is told not to check this itself, because its own answer has no body.
  if (req.headers.host === undefined && req.httpVersion === '1.1')
    throw new BadRequest('bad_request', 'The Host header is missing.');
};

const pathOf = (target: string): string => {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
};

/** What is done with a request before it is looked at; throws BadRequest or Problem. */
export type Meet = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * What each request meets first, as one layer, because every further one costs as much as what these
 * do: an id and a log of its own; its count and its line when it is over, with its path where
 * `showPath`; the refusal of what no service takes.
 */
export const createMeet = (log: Log, metrics: Metrics, showPath: boolean): Meet => {
  const name = requestLog(log);
  const end = createAccess(log, metrics);
  return (req, res) => {
    const start = performance.now();
    const { method = '', url: target = '' } = req;
    name(req, res);
    res.on('close', () =>
      end({
        requestId: requestIdOf(req),
        method,
        route: res.template,
        status: res.statusCode,
        ms: performance.now() - start,
        path: showPath ? pathOf(target) : undefined,
        answered: res.writableFinished,
      }),
    );
    refuseOddRequest(req, target);
  };
};
