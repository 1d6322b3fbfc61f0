import { hostname } from 'node:os';
import { gzipSync } from 'node:zlib';
import type { Request } from 'express';
import { z } from 'zod';
import type { BaseContext } from '../process/context.ts';
import { anyone, route, type Route } from './route.ts';

/** `/ops/status` needs no credential, so it caches the state of the database for this time. */
const statusCacheMs = 1000;

const ok = { 200: { description: '' } };

/** System routes are not in the OpenAPI document. They accept any query, because probes may add parameters. */
const common = {
  method: 'get',
  operationId: '',
  tag: '',
  summary: '',
  auth: anyone,
  query: z.looseObject({}),
  responses: ok,
} as const;

const probe = { ...common, skipRateLimit: true, logSuccess: false } as const;

const readiness = {
  ...probe,
  query: z.looseObject({ exclude: z.literal('database').optional() }),
} as const;

const freshJson = (value: object) => ({
  status: 200 as const,
  headers: { 'Cache-Control': 'no-store' },
  rawBody: JSON.stringify(value),
});

/** Paths that PROBE_PORT serves too, because probes must not wait behind clients. They are never refused for overload. */
export const probePaths: readonly string[] = ['/livez', '/readyz', '/metrics'];

/**
 * Routes of every service that its OpenAPI document does not describe: `/livez` (the process runs), `/readyz` (ready for
 * requests, and gauge values; `?exclude=database` ignores the database), `/metrics` (Prometheus), `/openapi.json`, and those
 * of the operations page: `/ops/status` for anyone, `/ops/caller` (the subject and scopes of the caller) for every valid
 * token of the context's `ops`, `/ops/summary` and `/ops/alerts` for tokens with the scope `ops:read`.
 */
export const systemRoutes = (
  { health, metrics, ops, prometheus }: BaseContext,
  document: () => object,
): Route[] => {
  const { registry, history, samples } = metrics;
  let [json, compressedJson]: [Buffer?, Buffer?] = [];
  const plainDocument = () => (json ??= Buffer.from(JSON.stringify(document())));
  /** Compressed once here, because the gateway would compress it for each request. */
  const compressedDocument = () => (compressedJson ??= gzipSync(plainDocument()));
  let [status, expiresAt] = [Promise.resolve({ ready: false, degraded: false }), 0];

  const currentStatus = () => {
    if (performance.now() >= expiresAt) {
      expiresAt = performance.now() + statusCacheMs;
      status = health.check().then(({ ready, degraded }) => ({ ready, degraded }));
    }
    return status;
  };
  const summary = async () => {
    const [{ ready, degraded, checks }, values, traffic] = await Promise.all([
      health.check(),
      samples.read(),
      // If Prometheus does not answer, the points are those of this process; `source` says which.
      prometheus?.traffic().catch(() => undefined),
    ]);
    return {
      instance: `${hostname()}/${process.pid}`,
      startedAt: history.startedAt.toISOString(),
      stepSeconds: 10,
      /** Whether the points cover this process or all replicas. */
      source: traffic === undefined ? 'process' : 'prometheus',
      /** Number of replicas that Prometheus reaches; null if only this process is known. */
      processes: traffic?.processes ?? null,
      points: traffic?.points ?? history.points(),
      health: { ready, degraded, checks },
      values,
    };
  };
  /** `alerts` is null if Prometheus does not answer. */
  const alerts = async () => ({
    hasPrometheus: prometheus !== undefined,
    alerts: prometheus === undefined ? [] : await prometheus.firingAlerts().catch(() => null),
  });
  return [
    route({ ...probe, path: '/livez' }, () => ({ status: 200, rawBody: '{"status":"ok"}' })),
    route(
      { ...readiness, path: '/readyz', responses: { ...ok, 503: { description: '' } } },
      async (request) => {
        const { ready, degraded, checks } = await health.check(request.query.exclude);
        const state = health.draining ? 'draining' : ready ? 'ready' : 'not_ready';
        const body = { status: state, degraded, checks, values: samples.latest() };
        return { status: ready ? 200 : 503, rawBody: JSON.stringify(body) };
      },
    ),
    route({ ...probe, path: '/metrics' }, async () => ({
      status: 200,
      headers: { 'Content-Type': registry.contentType },
      rawBody: await registry.metrics(),
    })),
    route({ ...common, path: '/openapi.json' }, ({ req }) => {
      const Vary = 'Accept-Encoding';
      // The route is not fast, so Express has extended the request.
      return (req as Request).acceptsEncodings('gzip')
        ? { status: 200, headers: { Vary, 'Content-Encoding': 'gzip' }, rawBody: compressedDocument() }
        : { status: 200, headers: { Vary }, rawBody: plainDocument() };
    }),
    route({ ...common, path: '/ops/status' }, async () => freshJson(await currentStatus())),
    ...(ops === undefined
      ? []
      : [
          route({ ...common, path: '/ops/caller', auth: ops.guard() }, ({ caller: { subject, scopes } }) =>
            freshJson({ subject, scopes: [...scopes] }),
          ),
          ...Object.entries({ '/ops/summary': summary, '/ops/alerts': alerts }).map(([path, read]) =>
            route({ ...common, path, auth: ops.guard('ops:read') }, async () => freshJson(await read())),
          ),
        ]),
  ];
};
