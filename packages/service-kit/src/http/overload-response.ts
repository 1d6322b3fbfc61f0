import type { RequestListener } from 'node:http';
import { makeRequestId } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { problemBody, Unavailable } from './problem.ts';
import { send } from './respond.ts';

const refusal = new Unavailable('too_busy', 'Too many requests; try again shortly.', undefined, 1);

/**
 * Refuses requests before they cost a look-up, a body, a password hash or a line in the log. Everything but the request
 * id is made once: under overload a refusal must cost much less than an answer.
 */
export const createOverloadResponse = ({ recordRefused }: Metrics): RequestListener => {
  const [start, end] = JSON.stringify(problemBody(refusal, '{id}')).split('{id}');
  const headers = {
    ...refusal.headers,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/problem+json',
  };
  return (req, res) => {
    req.id = makeRequestId(req);
    recordRefused();
    const body = `${start}${req.id}${end}`;
    send(req, res, refusal.status, { ...headers, 'Content-Length': body.length }, body);
  };
};
