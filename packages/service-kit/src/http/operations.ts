import { hostname } from 'node:os';
import { Router } from 'express';
import { z } from 'zod';
import type { BaseContext } from '../process/context.ts';
import { readiness } from '../process/health.ts';
import { anyone, route, type Route } from './route.ts';
import { runRoute } from './pipeline.ts';
import { instant } from './text.ts';

const rate = z.number().min(0);

const Status = z.object({ ready: z.boolean(), degraded: z.boolean() });

const Summary = z.object({
  /** Which of several processes answered. */
  instance: z.string(),
  startedAt: instant(),
  stepSeconds: z.int(),
  points: z.array(
    z.object({ at: instant(), requestsPerSecond: rate, errorsPerSecond: rate, p99Ms: rate.nullable() }),
  ),
});

const shared = { method: 'get', tag: 'Operation' } as const;
const noStore = { 'Cache-Control': 'no-store' };
/** In ms. Anybody may ask whether a service is ready; the database is asked no more often than this. */
const remembered = 1000;

const statusRoute = ({ health }: BaseContext): Route => {
  let [told, until] = [Promise.resolve({ ready: false, degraded: false }), 0];
  const current = () => {
    if (performance.now() >= until) {
      until = performance.now() + remembered;
      told = readiness(health).then(({ ready, checks }) => ({
        ready,
        degraded: Object.values(checks).includes('degraded'),
      }));
    }
    return told;
  };
  return route(
    {
      ...shared,
      path: '/ops/status',
      operationId: 'status',
      summary: 'Whether the service takes requests, and nothing else of it',
      caller: anyone,
      responses: { 200: { description: 'As it was within the last second', body: Status } },
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

/**
 * What the operations page reads of each service: `/ops/status` for anybody, `/ops/summary` for who has the scope
 * that the context's `ops` asks for. Neither belongs to the interface that the OpenAPI document describes.
 */
export const opsRoutes = (context: BaseContext): Router => {
  const router = Router();
  for (const one of [statusRoute(context), ...summaryRoute(context)])
    router.get(one.path, runRoute(one, one.path, context.rateLimit));
  return router;
};
