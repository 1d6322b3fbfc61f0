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

/** A host name, an IPv4 address or an IPv6 address in brackets, and a port (RFC 9110 section 7.2). */
const validHost = /^(?:[\w.~-]{1,255}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;

const countHosts = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
};

/** Refuses what no service takes. Node's own check of Host is off, because its answer has no body. */
const refuseInvalidRequest = (req: IncomingMessage, target: string): void => {
  if (target.length > maxTarget)
    throw new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' });
  const { host } = req.headers;
  if (host === undefined) {
    if (req.httpVersion === '1.1') throw new BadRequest('bad_request', 'The Host header is missing.');
  } else if (!validHost.test(host) || countHosts(req) > 1)
    throw new BadRequest('invalid_host', 'The Host header must be one host name and an optional port.');
};

const pathOf = (target: string): string => {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
};

/** Runs first for every request. Throws BadRequest or Problem 414. */
export type RequestContext = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Gives each request its id and its log, starts the timer, writes the access log and the metrics when
 * the request is over (with its path where `logPaths`), and refuses invalid targets and hosts. One
 * function, because a further middleware would cost as much as all of this.
 */
export const createRequestContext = (log: Log, metrics: Metrics, logPaths: boolean): RequestContext => {
  const assignId = requestLog(log);
  const record = createAccess(log, metrics);
  return (req, res) => {
    const start = performance.now();
    const { method = '', url: target = '' } = req;
    assignId(req, res);
    res.on('close', () =>
      record({
        requestId: requestIdOf(req),
        method,
        route: res.template,
        status: res.statusCode,
        ms: performance.now() - start,
        path: logPaths ? pathOf(target) : undefined,
        answered: res.writableFinished,
      }),
    );
    refuseInvalidRequest(req, target);
  };
};
