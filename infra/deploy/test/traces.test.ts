import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startReceiver } from '@platform/gateway-telemetry/receiver';
import { openSpans } from '@platform/gateway-telemetry/spans';
import { startGateway, type Gateway } from '@platform/gateway/testing/gateway';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startCollector, waitFor, type Collector, type Span } from './collector.ts';
import { keys, startService, type RunningService } from './service.ts';

const token = `w3bh00k-${'x'.repeat(35)}`;
const stack = new AsyncDisposableStack();
const gameServerRequests: IncomingMessage['headers'][] = [];
const running: Record<string, RunningService> = {};
let collector: Collector;
let gateway: Gateway;

/** Starts an external system: a game server with two currencies. */
const startGameServer = async (): Promise<string> => {
  const server = createServer((req, res) => {
    gameServerRequests.push(req.headers);
    res.setHeader('Content-Type', 'application/json');
    res.end('["EUR","USD"]');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeAll(async () => {
  collector = stack.use(await startCollector());
  const tracing = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20of-the-collector',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=the%20tests',
  };
  const gameServer = { GAME_SERVER_URL: await startGameServer(), OPERATOR_ID: 'us' };
  const names = ['quest-service', 'store-webhooks', 'wallet-operator'];
  await Promise.all(
    names.map(async (name) => {
      running[name] = stack.use(await startService(name, { ...tracing, ...gameServer }));
    }),
  );
  const spans = stack.use(openSpans({ endpoint: collector.url, env: tracing }));
  const { port } = stack.use(
    await startReceiver(0, '127.0.0.1', { onRequest: spans.record, onInvalid: () => undefined }),
  );
  const upstreams = Object.fromEntries(names.map((name) => [name, running[name]?.address ?? '']));
  gateway = stack.use(await startGateway({ upstreams, telemetry: `127.0.0.1:${port}` }));
});
afterAll(() => stack.disposeAsync());

let count = 0;
/** Sends a request as part of a caller's trace. */
const ask = async (path: string, init: RequestInit = {}) => {
  count += 1;
  const trace = count.toString(16).padStart(32, 'a');
  const traceparent = `00-${trace}-${'c'.repeat(16)}-01`;
  const answer = await fetch(`${gateway.url}${path}`, { ...init, headers: { traceparent, ...init.headers } });
  await answer.arrayBuffer();
  return { status: answer.status, trace };
};

const spanNamed = (spans: readonly Span[], name: string): Span => {
  const [span, ...others] = spans.filter((candidate) => candidate.name === name);
  if (span === undefined || others.length > 0)
    throw new Error(`${others.length + 1} spans are named ${name}`);
  return span;
};

describe.concurrent('a request', () => {
  test('is one trace through gateway, service and database', async () => {
    const { trace } = await ask(
      '/v1/quests/0198c1b0-0000-7000-8000-000000000000/questions?Take=5&Skip=424242',
    );
    const route = 'GET /v1/quests/{questId}/questions';
    const spans = await collector.trace(trace, 'GET quest-service', route, 'select');
    const [first, second] = [spanNamed(spans, 'GET quest-service'), spanNamed(spans, route)];
    const statements = spans.filter(({ name }) => name === 'select');
    expect([first.service, second.service]).toEqual(['gateway', 'quest-service']);
    expect(first.parentSpanId).toBe('c'.repeat(16));
    expect(second.parentSpanId).toBe(first.spanId);
    for (const { parentSpanId } of statements) expect(parentSpanId).toBe(second.spanId);
    expect(second.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.route': '/v1/quests/{questId}/questions',
      'request.id': first.attributes['request.id'],
    });
    // The first statement of a connection is a query of postgres.js about types.
    expect(statements.map(({ attributes }) => attributes['db.query.text'])).toContainEqual(
      expect.stringMatching(/^select .*\$1/),
    );
    // Omits times and random ids, which may contain the same digits.
    const content = JSON.stringify(spans, (name, value: unknown) =>
      /(?:UnixNano|Id)$/.test(name) ? undefined : value,
    );
    expect(content).not.toMatch(/424242|0198c1b0/);
  });

  test('has the spans of its statements as children of its transaction', async () => {
    const admin = await keys.token({ scope: 'quests:write' });
    const { status, trace } = await ask('/v1/quests', {
      method: 'POST',
      headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
      body: '{"title":"a title that is a value"}',
    });
    expect(status).toBe(201);
    const spans = await collector.trace(trace, 'POST /v1/quests', 'insert');
    const parents = new Set([spanNamed(spans, 'POST /v1/quests').spanId]);
    for (const { spanId, name } of spans) if (name === 'transaction') parents.add(spanId);
    expect(parents).toContain(spanNamed(spans, 'insert').parentSpanId);
    expect(JSON.stringify(spans)).not.toContain('a title that is a value');
    expect(JSON.stringify(spans)).not.toContain(admin);
  });

  test('has the ids of its span in its log line', async () => {
    const { trace } = await ask('/v1/quests/nonsense/questions');
    const name = 'GET /v1/quests/{questId}/questions';
    const span = spanNamed(await collector.trace(trace, name, 'GET quest-service'), name);
    const line = await waitFor(
      () => running['quest-service']?.lines.find((text) => text.includes(trace)),
      'the line of the request',
    );
    expect(line).toContain(`"span_id":"${span.spanId}"`);
    const isLogged = async () =>
      (await gateway.logs())['access.log']?.includes(`"trace_id":"${trace}"`) ?? false;
    await vi.waitUntil(isLogged, 120_000);
  });
});

test.concurrent('the token of a webhook is in no span and no log', async () => {
  const { trace } = await ask(`/api/v1/hooks/order_updated/${token}`, { method: 'POST', body: '{}' });
  const route = 'POST /api/v1/hooks/order_updated/{token}';
  const spans = await collector.trace(trace, 'POST store-webhooks', route, 'select');
  expect(spanNamed(spans, route).attributes['http.response.status_code']).toBe(404);
  const everything = [
    ...collector.bodies,
    ...(running['store-webhooks']?.lines ?? []),
    ...Object.values(await gateway.logs()),
  ];
  expect(everything.join('\n')).not.toContain(token.slice(0, 8));
});

test.concurrent('a call to another system continues the trace', async () => {
  const admin = await keys.token({ scope: 'wallet:admin' });
  const { status, trace } = await ask('/v1/currencies', { headers: { Authorization: `Bearer ${admin}` } });
  expect(status).toBe(200);
  const spans = await collector.trace(trace, 'GET /v1/currencies', 'GET wallet-operator');
  const call = spans.find(({ kind, service }) => kind === 3 && service === 'wallet-operator');
  expect(call?.parentSpanId).toBe(spanNamed(spans, 'GET /v1/currencies').spanId);
  expect(gameServerRequests.at(-1)?.['traceparent']).toBe(`00-${trace}-${call?.spanId}-01`);
  expect(JSON.stringify(call)).not.toContain('/operator/currencies');
});

test.concurrent('a request on the fast path is also named after its route', async () => {
  const { trace } = await ask('/callback/balance', { method: 'POST', body: '{}' });
  const spans = await collector.trace(trace, 'POST /callback/balance', 'POST wallet-operator');
  expect(spanNamed(spans, 'POST /callback/balance').attributes['http.route']).toBe('/callback/balance');
});

test('every export has the credentials for the collector, and probes have no spans', () => {
  const credentials = new Set(collector.headers.map(({ authorization }) => authorization));
  expect([...credentials]).toEqual(['Bearer of-the-collector']);
  expect(collector.spans.filter(({ name }) => /livez|readyz|metrics|v1.traces/.test(name))).toEqual([]);
});

test('without a collector the SDK is not loaded', async () => {
  const moduleLog = new URL('log-module-loads.mjs', import.meta.url).href;
  await using service = await startService('quest-service', {}, ['--import', moduleLog]);
  await fetch(`${service.url}/v1/quests`);
  expect(service.lines.filter((line) => line.includes('sdk-trace'))).toEqual([]);
  await using traced = await startService('quest-service', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, [
    '--import',
    moduleLog,
  ]);
  expect(traced.lines.some((line) => line.includes('sdk-trace'))).toBe(true);
});

test('resource attributes of the environment are part of every span', async () => {
  const { trace } = await ask('/v1/quests');
  // The gateway also has a span with this name.
  const span = () =>
    collector.spans.find(({ traceId, service }) => traceId === trace && service === 'quest-service');
  await expect.poll(() => span()?.resource['deployment.environment.name']).toBe('the tests');
});
