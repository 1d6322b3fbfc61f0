import { hostname } from 'node:os';
import { gzipSync } from 'node:zlib';
import type { Request } from 'express';
import { z } from 'zod';
import type { BaseContext } from '../process/context.ts';
import { anyone, route, type Route } from './route.ts';

/** `/ops/status` checks the database at most once in this time, because anyone may call it. */
const statusMs = 1000;

const ok = { 200: { description: '' } };

/** They take no part in the OpenAPI document, and probes may add parameters. */
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

/** Paths that a listener of their own answers, too: a probe must not wait behind clients, and is never refused by overload. */
export const probePaths: readonly string[] = ['/livez', '/readyz', '/metrics'];

/**
 * Paths of every service that are not part of the interface its OpenAPI document describes: `/livez` (the process
 * runs), `/readyz` (it may be sent requests, and what it holds; `?exclude=database` for those that do without the database), `/metrics` (Prometheus), `/openapi.json`, and what the
 * operations page reads: `/ops/status` for anyone, `/ops/caller` (the scopes of the caller) for every valid token of the
 * context's `ops`, `/ops/summary` and `/ops/alerts` for those with the scope `ops:read`.
 */
export const systemRoutes = (
  { health, metrics, ops, prometheus }: BaseContext,
  document: () => object,
): Route[] => {
  const { registry, history, samples } = metrics;
  let [json, zippedJson]: [Buffer?, Buffer?] = [];
  const plainDocument = () => (json ??= Buffer.from(JSON.stringify(document())));
  /** Compressed once: the gateway would compress it for each request. */
  const zippedDocument = () => (zippedJson ??= gzipSync(plainDocument()));
  let [status, until] = [Promise.resolve({ ready: false, degraded: false }), 0];

  const currentStatus = () => {
    if (performance.now() >= until) {
      until = performance.now() + statusMs;
      status = health.check().then(({ ready, degraded }) => ({ ready, degraded }));
    }
    return status;
  };
  const summary = async () => {
    const [{ ready, degraded, checks }, values, measured] = await Promise.all([
      health.check(),
      samples.read(),
      // Without an answer the points are those of this process, as `source` says.
      prometheus?.traffic().catch(() => undefined),
    ]);
    return {
      instance: `${hostname()}/${process.pid}`,
      startedAt: history.startedAt.toISOString(),
      stepSeconds: 10,
      /** Whose the points are: of this process, or of all replicas. */
      source: measured === undefined ? 'process' : 'prometheus',
      /** How many replicas Prometheus reaches; null when only this process is known. */
      processes: measured?.processes ?? null,
      points: measured?.points ?? history.points(),
      health: { ready, degraded, checks },
      values,
    };
  };
  /** `alerts` is null when Prometheus does not answer. */
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
      // Not a fast route, so the request is that of Express.
      return (req as Request).acceptsEncodings('gzip')
        ? { status: 200, headers: { Vary, 'Content-Encoding': 'gzip' }, rawBody: zippedDocument() }
        : { status: 200, headers: { Vary }, rawBody: plainDocument() };
    }),
    route({ ...common, path: '/ops/status' }, async () => freshJson(await currentStatus())),
    ...(ops === undefined
      ? []
      : [
          route({ ...common, path: '/ops/caller', auth: ops.guard() }, ({ caller: { scopes } }) =>
            freshJson({ scopes: [...scopes] }),
          ),
          ...Object.entries({ '/ops/summary': summary, '/ops/alerts': alerts }).map(([path, read]) =>
            route({ ...common, path, auth: ops.guard('ops:read') }, async () => freshJson(await read())),
          ),
        ]),
  ];
};
