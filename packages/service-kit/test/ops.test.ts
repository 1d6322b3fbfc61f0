import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import { Gauge, type Registry } from '@prometheus-io/client';
import { expect, test } from 'vitest';
import { InsufficientScope, Unauthorized } from '../src/http/problem.ts';
import type { Guard } from '../src/http/route.ts';
import { createApp } from './fixture/service.ts';
import { startFixture } from './harness.ts';

/** `Bearer ops` has the scope `ops:read`; another credential has none. */
const ops = {
  guard: (scope?: string): Guard<{ subject: string; scopes: ReadonlySet<string> }> => ({
    security: [],
    schemes: {},
    identify: ({ headers: { authorization } }) => {
      if (authorization === undefined) throw new Unauthorized('An access token is needed.', 'Bearer');
      const scopes = new Set(authorization === 'Bearer ops' ? ['ops:read'] : []);
      if (scope !== undefined && !scopes.has(scope)) throw new InsufficientScope(scope, 'Bearer');
      return { subject: authorization.slice('Bearer '.length), scopes };
    },
    keyOf: () => 'somebody',
  }),
};

const addGauge = ({ metrics: { registry } }: { metrics: { registry: Registry } }): void =>
  new Gauge({ name: 'webhooks_waiting', help: 'x', registers: [registry] }).set(3);

test('/readyz returns the values of the gauges', async () => {
  await using fixture = await startFixture();
  addGauge(fixture.context);
  await fixture.context.metrics.samples.read();
  const { body } = await request(fixture.app).get('/readyz').expect(200);
  expect(body).toMatchObject({
    status: 'ready',
    checks: { database: 'ok' },
    values: { webhooks_waiting: 3 },
  });
});

test('/ops/status returns only whether the service is ready, without a credential', async () => {
  await using fixture = await startFixture();
  const answer = await request(fixture.app).get('/ops/status').expect(200);
  expect(answer.body).toEqual({ ready: true, degraded: false });
  expect(answer.headers['cache-control']).toBe('no-store');
});

test('a draining service is not ready, and one without Redis is degraded', async () => {
  await using fixture = await startFixture({ REDIS_URL: 'redis://127.0.0.1:1' });
  fixture.context.health.draining = true;
  const answer = await request(fixture.app).get('/ops/status').expect(200);
  expect(answer.body).toEqual({ ready: false, degraded: true });
});

test('concurrent requests for the status check the database once', async () => {
  await using fixture = await startFixture();
  let checks = 0;
  const { health } = fixture.context;
  const check = health.check.bind(health);
  health.check = () => {
    checks++;
    return check();
  };
  await Promise.all(Array.from({ length: 20 }, () => request(fixture.app).get('/ops/status').expect(200)));
  // A second may pass meanwhile on a busy machine, but not twenty.
  expect(checks).toBeLessThan(20);
});

test('/ops/summary requires the scope', async () => {
  await using fixture = await startFixture();
  addGauge(fixture.context);
  const { listener: app } = createApp({ ...fixture.context, ops });
  const refused = await request(app).get('/ops/summary').expect(401);
  expect(refused.body).toMatchObject({ code: 'unauthorized' });
  const withoutScope = await request(app)
    .get('/ops/summary')
    .set('Authorization', 'Bearer other')
    .expect(403);
  expect(withoutScope.body.detail).toContain('ops:read');
  const { body } = await request(app).get('/ops/summary').set('Authorization', 'Bearer ops').expect(200);
  expect(body).toMatchObject({ instance: expect.stringMatching(/\/\d+$/), stepSeconds: 10 });
  expect(body.points).toBeInstanceOf(Array);
  expect(body).toMatchObject({
    source: 'process',
    health: { ready: true, checks: { database: 'ok', migrations: 'ok' } },
    values: { webhooks_waiting: 3 },
  });
});

test('/ops/caller returns the subject and the scopes of any valid token', async () => {
  await using fixture = await startFixture();
  const { listener: app } = createApp({ ...fixture.context, ops });
  await request(app).get('/ops/caller').expect(401);
  for (const [token, scopes] of Object.entries({ ops: ['ops:read'], other: [] })) {
    const answer = await request(app).get('/ops/caller').set('Authorization', `Bearer ${token}`).expect(200);
    expect(answer.body).toEqual({ subject: token, scopes });
    expect(answer.headers['cache-control']).toBe('no-store');
  }
});

test('without a guard /ops/summary is 404', async () => {
  await using fixture = await startFixture();
  const answer = await request(fixture.app)
    .get('/ops/summary')
    .set('Authorization', 'Bearer ops')
    .expect(404);
  expect(answer.body).toMatchObject({ code: 'not_found' });
});

test('the OpenAPI document contains no /ops path', async () => {
  await using fixture = await startFixture();
  expect(JSON.stringify(fixture.document())).not.toContain('/ops/');
});

/** Starts an HTTP server that answers like Prometheus. */
const startPrometheus = async () => {
  const requests: string[] = [];
  const alert = (alertname: string, state: string) => ({
    state,
    activeAt: '2026-11-24T10:00:00.123456789Z',
    labels: { alertname, severity: 'page', service: 'fixture', job: 'platform' },
    annotations: { summary: 'It waits', action: 'Look.', guide: 'docs/deploy.md#logs' },
    value: '1e+00',
  });
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    const { searchParams } = new URL(url, 'http://prometheus');
    const end = Number(searchParams.get('end'));
    const query = searchParams.get('query') ?? '';
    const value = query.includes('histogram_quantile') ? 'NaN' : query.includes('up{') ? '3' : '2.5';
    const data = url.startsWith('/base/api/v1/alerts')
      ? { alerts: [alert('DatabaseUnavailable', 'firing'), alert('ErrorRateHigh', 'pending')] }
      : { resultType: 'matrix', result: [{ metric: {}, values: [[end, value]] }] };
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ status: 'success', data }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/base/`, requests, [Symbol.dispose]: () => void server.close() };
};

/** Requests an ops path with the scope `ops:read`. */
const askOps = async (path: string, settings: Record<string, string>) => {
  await using fixture = await startFixture(settings);
  const { listener: app } = createApp({ ...fixture.context, ops });
  return (await request(app).get(path).set('Authorization', 'Bearer ops').expect(200)).body as object;
};

test('/ops/alerts has the firing alerts of Prometheus, with their action', async () => {
  using prometheus = await startPrometheus();
  expect(await askOps('/ops/alerts', { PROMETHEUS_URL: prometheus.url })).toEqual({
    hasPrometheus: true,
    alerts: [
      {
        alert: 'DatabaseUnavailable',
        service: 'fixture',
        severity: 'page',
        summary: 'It waits',
        action: 'Look.',
        guide: 'docs/deploy.md#logs',
        since: '2026-11-24T10:00:00.123456789Z',
      },
    ],
  });
});

test('/ops/summary has the traffic and the number of all replicas if Prometheus has them', async () => {
  using prometheus = await startPrometheus();
  const body = await askOps('/ops/summary', { PROMETHEUS_URL: prometheus.url });
  expect(body).toMatchObject({
    source: 'prometheus',
    processes: 3,
    points: [{ requestsPerSecond: 2.5, errorsPerSecond: 2.5, p99Ms: null }],
  });
  const queries = prometheus.requests.map((url) => new URL(url, prometheus.url).searchParams.get('query'));
  for (const query of queries) expect(query).toMatch(/job="platform",service="[\w-]+"/);
});

test('without a reachable Prometheus, the service returns its own values', async () => {
  expect(await askOps('/ops/alerts', {})).toEqual({ hasPrometheus: false, alerts: [] });
  const unreachable = { PROMETHEUS_URL: 'http://127.0.0.1:1' };
  expect(await askOps('/ops/alerts', unreachable)).toEqual({ hasPrometheus: true, alerts: null });
  expect(await askOps('/ops/summary', unreachable)).toMatchObject({ source: 'process', processes: null });
});
