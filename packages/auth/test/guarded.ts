import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { expect } from 'vitest';
import { problemResponse, toProblem } from '@platform/service-kit/problem';
import { noLookupLimit, type Guard } from '@platform/service-kit/route';

const answerProblem: ErrorRequestHandler = (error, _req, res, _next) => {
  const problem = toProblem(error);
  res
    .status(problem.status)
    .set(problem.headers)
    .type('application/problem+json')
    .send(problemResponse(problem, 'test').body);
};

/** An app with one route that answers `bodyOf(caller)` for callers that the guard admits. */
export const guarded = <Caller>(
  guard: Guard<Caller>,
  bodyOf: (caller: Caller) => unknown,
  limit = noLookupLimit,
): Express => {
  const app = express();
  app.get('/', (req, res, next) => {
    const identify = async () => guard.identify(req, limit);
    identify().then((caller) => res.json(bodyOf(caller)), next);
  });
  app.use(answerProblem);
  return app;
};

/** Awaits an answer and checks its status. */
export const expectStatus = async (
  answer: PromiseLike<{ status: number }>,
  status: number,
): Promise<void> => {
  expect((await answer).status).toBe(status);
};

/** Sends a GET with exactly these headers, also repeated ones; returns the status and the challenge. */
export const getWith = async (app: Express, headers: readonly [string, string][]) => {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const raw = [['Host', '127.0.0.1'] as const, ...headers].flat();
    const sent = httpRequest({ port, host: '127.0.0.1', headers: raw, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return { status: answer.statusCode, challenge: answer.headers['www-authenticate'] };
  } finally {
    server.closeAllConnections();
    server.close();
  }
};
