import { hostname } from 'node:os';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { BaseContext } from '../process/context.ts';
import { readiness } from '../process/health.ts';
import { anyone, route, type Route } from './route.ts';
import { createHandler } from './pipeline.ts';
import { send } from './respond.ts';
import { instant } from './text.ts';

const rate = z.number().min(0);

const Status = z.object({ ready: z.boolean(), degraded: z.boolean() });

const Summary = z.object({
  /** The process that answered. */
  instance: z.string(),
  startedAt: instant(),
  stepSeconds: z.int(),
  points: z.array(
    z.object({ at: instant(), requestsPerSecond: rate, errorsPerSecond: rate, p99Ms: rate.nullable() }),
  ),
});

const shared = { method: 'get', tag: 'Operation' } as const;
const noStore = { 'Cache-Control': 'no-store' };
const json = { 'Content-Type': 'application/json; charset=utf-8' };
/** Anyone may call `/ops/status`; the database is checked at most once in this time. */
const statusMs = 1000;

const statusRoute = ({ health }: BaseContext): Route => {
  let [status, until] = [Promise.resolve({ ready: false, degraded: false }), 0];
  const current = () => {
    if (performance.now() >= until) {
      until = performance.now() + statusMs;
      status = readiness(health).then(({ ready, checks }) => ({
        ready,
        degraded: Object.values(checks).includes('degraded'),
      }));
    }
    return status;
  };
  return route(
    {
      ...shared,
      path: '/ops/status',
      operationId: 'status',
      summary: 'Whether the service takes requests',
      caller: anyone,
      responses: { 200: { description: 'At most a second old', body: Status } },
    },
    async () => ({ status: 200, headers: noStore, body: await current() }),
  );
};

const summaryRoute = ({ history, ops: caller }: BaseContext): Route[] =>
  caller === undefined
    ? []
    : [
        route(
          {
            ...shared,
            path: '/ops/summary',
            operationId: 'summary',
            summary: 'Request rate, error rate and p99 of the last half hour, every 10 s',
            caller,
            responses: { 200: { description: 'Of this process', body: Summary } },
          },
          () => ({
            status: 200,
            headers: noStore,
            body: {
              instance: `${hostname()}/${process.pid}`,
              startedAt: history.startedAt.toISOString(),
              stepSeconds: 10,
              points: history.points().map(({ at, ...point }) => ({
                ...point,
                at: new Date(at).toISOString(),
              })),
            },
          }),
        ),
      ];

/** A path of every service that is not part of the interface its OpenAPI document describes. */
export interface OperationPath {
  path: string;
  handle: RequestHandler;
}

/**
 * `/livez` (the process runs), `/readyz` (it may be sent requests), `/metrics` (Prometheus),
 * `/openapi.json`, and what the operations page reads: `/ops/status` for anyone, `/ops/summary` for
 * callers with the scope that the context's `ops` requires.
 */
export const operationPaths = (context: BaseContext, document: object): OperationPath[] => {
  const { health, metrics } = context;
  const documentText = JSON.stringify(document);
  const answer = (req: IncomingMessage, res: ServerResponse, status: number, body: object) =>
    send(req, res, status, { ...json }, JSON.stringify(body));
  return [
    { path: '/livez', handle: (req, res) => answer(req, res, 200, { status: 'ok' }) },
    {
      path: '/readyz',
      handle: async (req, res) => {
        const { ready, checks } = await readiness(health);
        const status = health.draining ? 'draining' : ready ? 'ready' : 'not_ready';
        answer(req, res, ready ? 200 : 503, { status, checks });
      },
    },
    {
      path: '/metrics',
      handle: async (req, res) => {
        const headers = { 'Content-Type': metrics.registry.contentType };
        send(req, res, 200, headers, await metrics.registry.metrics());
      },
    },
    { path: '/openapi.json', handle: (req, res) => send(req, res, 200, { ...json }, documentText) },
    ...[statusRoute(context), ...summaryRoute(context)].map((one) => ({
      path: one.path,
      handle: createHandler(one, one.path, context),
    })),
  ];
};
