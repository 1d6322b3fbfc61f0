import type { RequestListener } from 'node:http';
import { requestIdOf } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { problemResponse, Unavailable } from '../http/problem.ts';
import { send } from '../http/respond.ts';

const refusal = new Unavailable('too_busy', 'Too many requests; try again shortly.', undefined, 1);

/**
 * Refuses requests before they cost a look-up, a body, a password hash or a line in the log. Everything but the request
 * id is made once: under overload a refusal must cost much less than an answer.
 */
export const createOverloadResponse = ({ recordRefused }: Metrics): RequestListener => {
  const { headers, body } = problemResponse(refusal, '{id}');
  const [start, end] = body.split('{id}');
  return (req, res) => {
    recordRefused();
    const own = `${start}${requestIdOf(req)}${end}`;
    send(req, res, refusal.status, { ...headers, 'Content-Length': own.length }, own);
  };
};
