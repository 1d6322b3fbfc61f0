import { hostname } from 'node:os';
import { z } from 'zod';
import type { BaseContext } from '../process/context.ts';
import { readiness } from '../process/health.ts';
import { anyone, route, type Answer, type Guard, type ResponseSpec, type Route } from './route.ts';
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

/** `/ops/status` checks the database at most once in this time, because anyone may call it. */
const statusMs = 1000;

type Responses = Record<number, ResponseSpec>;

/** Probes may add parameters. */
const query = z.looseObject({});

const get = <R extends Responses>(
  path: string,
  responses: R,
  handle: () => Answer<NoInfer<R>> | Promise<Answer<NoInfer<R>>>,
  caller: Guard<unknown> = anyone,
): Route =>
  route(
    {
      method: 'get',
      path,
      operationId: path,
      tag: '',
      summary: '',
      caller,
      query,
      unlimited: true,
      responses,
    },
    handle,
  );

/**
 * Paths of every service that are not part of the interface its OpenAPI document describes: `/livez` (the process
 * runs), `/readyz` (it may be sent requests), `/metrics` (Prometheus), `/openapi.json`, and what the operations page
 * reads: `/ops/status` for anyone, `/ops/summary` for callers whom the context's `ops` lets in.
 */
export const operationRoutes = ({ health, metrics, ops }: BaseContext, document: object): Route[] => {
  const { registry, history } = metrics;
  const json = JSON.stringify(document);
  const headers = { 'Cache-Control': 'no-store' };
  let [status, until] = [Promise.resolve({ ready: false, degraded: false }), 0];

  const currentStatus = () => {
    if (performance.now() >= until) {
      until = performance.now() + statusMs;
      status = readiness(health).then(({ ready, checks }) => ({
        ready,
        degraded: Object.values(checks).includes('degraded'),
      }));
    }
    return status;
  };
  const summary = () => ({
    instance: `${hostname()}/${process.pid}`,
    startedAt: history.startedAt.toISOString(),
    stepSeconds: 10,
    points: history.points(),
  });
  const ok = { 200: { description: '' } };
  return [
    get('/livez', ok, () => ({ status: 200, json: '{"status":"ok"}' })),
    get('/readyz', { ...ok, 503: { description: '' } }, async () => {
      const { ready, checks } = await readiness(health);
      const state = health.draining ? 'draining' : ready ? 'ready' : 'not_ready';
      return { status: ready ? 200 : 503, json: JSON.stringify({ status: state, checks }) };
    }),
    get('/metrics', ok, async () => ({
      status: 200,
      headers: { 'Content-Type': registry.contentType },
      json: await registry.metrics(),
    })),
    get('/openapi.json', ok, () => ({ status: 200, json })),
    get('/ops/status', { 200: { description: '', body: Status } }, async () => ({
      status: 200,
      headers,
      body: await currentStatus(),
    })),
    ...(ops === undefined
      ? []
      : [
          get(
            '/ops/summary',
            { 200: { description: '', body: Summary } },
            () => ({ status: 200, headers, body: summary() }),
            ops,
          ),
        ]),
  ];
};
