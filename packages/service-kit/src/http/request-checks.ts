import type { IncomingMessage } from 'node:http';
import { BadRequest, Problem } from './problem.ts';

/** The path of a request target, without its query. */
export const pathOf = (target: string): string => {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
};

/** Longer request targets are 414; Node itself gives up at 16 kB of headers in all. */
const maxTarget = 8192;

/** A host name, an IPv4 address or an IPv6 address in brackets, and a port (RFC 9110 section 7.2). */
const validHost = /^(?:[\w.~-]{1,255}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;

/** Node.js keeps the first of several Host headers; rawHeaders has names and values in turn. */
const countHosts = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') count += 1;
  return count;
};

/** Refuses what no service accepts. Node's own check of Host is off, because its response has no body. */
export const refuseInvalidRequest = (req: IncomingMessage): void => {
  if ((req.url ?? '').length > maxTarget)
    throw new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' });
  const { host, expect } = req.headers;
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    const detail = 'The header Expect may only be 100-continue.';
    throw new Problem({ status: 417, code: 'expectation_failed', detail });
  }
  if (host === undefined) {
    if (req.httpVersion === '1.1') throw new BadRequest('bad_request', 'The Host header is missing.');
  } else if (!validHost.test(host) || countHosts(req) > 1)
    throw new BadRequest('invalid_host', 'The Host header must be one host name and an optional port.');
};
