import { tellableError } from '../tracker/failure.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { createAccess } from '@platform/service-kit/access';
import type { Log } from '@platform/service-kit/log';
import type { Metrics } from '@platform/service-kit/metrics';
import { Problem, toProblem } from '@platform/service-kit/problem';
import { parseQuery } from '@platform/service-kit/query';
import { problemAnswer, send, type HookAnswer } from './answer.ts';
import { parseAddress, type HookAddress } from './events.ts';
import { receive, type Reception } from './receive.ts';

interface Observed {
  log: Log;
  metrics: Metrics;
}

const givenId = /^[A-Za-z0-9._-]{1,128}$/;

const requestIdOf = ({ headers }: IncomingMessage): string => {
  const id = headers['x-request-id'];
  return typeof id === 'string' && givenId.test(id) ? id : randomUUID();
};

/** How some providers make sure an address is meant for them: it says back what it was asked. */
const echo = (target: string): HookAnswer | undefined => {
  const { check } = parseQuery(target);
  if (check === undefined || check.length > 1000) return undefined;
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  return { status: 200, headers, body: check };
};

const otherwise = (req: IncomingMessage): HookAnswer => {
  const echoed = req.method === 'GET' ? echo(req.url ?? '') : undefined;
  if (echoed !== undefined) return echoed;
  throw new Problem({
    status: 405,
    code: 'method_not_allowed',
    detail: 'This address takes POST.',
    headers: { Allow: 'POST' },
  });
};

/** Answers one request to a webhook's address; never rejects. */
export const createHookHandler = (reception: Reception, { log, metrics }: Observed) => {
  const ended = createAccess(log, metrics);
  return async (req: IncomingMessage, res: ServerResponse, address: HookAddress): Promise<void> => {
    const start = performance.now();
    const requestId = requestIdOf(req);
    req.headers['x-request-id'] = requestId;
    let answer: HookAnswer;
    try {
      answer = req.method === 'POST' ? await receive(reception, req, res, address) : otherwise(req);
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) log.error({ err: tellableError(error), requestId }, problem.code);
      answer = problemAnswer(problem, requestId);
    }
    send(req, res, answer, requestId);
    ended({
      requestId,
      method: req.method ?? '',
      route: address.template,
      status: answer.status,
      ms: performance.now() - start,
      answered: true,
    });
  };
};

/**
 * Webhooks go round Express, whose way through its rooms costs more than all that is done here; the
 * rest goes on as it would. The same handler stands in the rooms too.
 */
export const hooksFirst =
  (handle: ReturnType<typeof createHookHandler>, next: RequestListener): RequestListener =>
  (req, res): void => {
    const address = parseAddress(req.url ?? '');
    if (address === undefined || req.headers.host === undefined) return next(req, res);
    handle(req, res, address).catch(() => res.destroy());
  };
