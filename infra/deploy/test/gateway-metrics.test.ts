import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMetrics } from '@platform/gateway-telemetry/metrics';
import { startReceiver } from '@platform/gateway-telemetry/receiver';
import { startGateway, type Gateway } from '@platform/gateway/testing/gateway';
import { freePort } from '@platform/local/ports';
import { afterAll, beforeAll, expect, test } from 'vitest';

const stack = new AsyncDisposableStack();
const { registry, record } = createMetrics();
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let gateway: Gateway;

/** Starts a service whose behaviour depends on the path of the request. */
const startStandIn = async (): Promise<string> => {
  const server = createServer(({ url = '' }, response) => {
    if (url.includes('hang')) return;
    if (url.includes('close')) response.destroy();
    response.statusCode = url.includes('own-error') ? 502 : 200;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeAll(async () => {
  receiver = stack.use(
    await startReceiver(0, '127.0.0.1', { onRequest: record, onInvalid: () => undefined }),
  );
  const address = await startStandIn();
  const closedPort = async () => `127.0.0.1:${await freePort()}`;
  const upstreams = {
    'quest-service': address,
    'store-webhooks': address,
    consignments: [await closedPort(), address],
    'verify-projects': await closedPort(),
  };
  const telemetry = `127.0.0.1:${receiver.port}`;
  gateway = stack.use(await startGateway({ upstreams, telemetry, timeouts: { answer: 3000 } }));
});
afterAll(() => stack.disposeAsync());

/** Waits for lines of /metrics that contain a text, and returns them. */
const metricLines = async (text: string): Promise<string[]> => {
  const matchingLines = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.includes(text));
  await expect.poll(matchingLines).not.toEqual([]);
  return matchingLines();
};

test.each([
  ['/v1/quests/1?a=b', 'quest-service', '/v1/quests', 200, 'service'],
  ['/v1/quests/1/questions', 'quest-service', '/v1/quests/*/questions', 200, 'service'],
  ['/api/v1/hooks/order_updated/secret-token', 'store-webhooks', '/api/v1/hooks', 200, 'service'],
  ['/v1/quests/own-error', 'quest-service', '/v1/quests', 502, 'service'],
  ['/v1/quests/close', 'quest-service', '/v1/quests', 502, 'nginx'],
  ['/v1/quests/hang', 'quest-service', '/v1/quests', 504, 'nginx'],
  ['/v1/projects', 'verify-projects', '/v1/projects', 503, 'nginx'],
  ['/openapi/quest-service.json', 'quest-service', '/openapi/quest-service.json', 200, 'service'],
  ['/nowhere/secret-token', 'none', 'none', 404, 'nginx'],
])('%s is counted as a request to %s', async (target, upstream, route, status, answeredBy) => {
  expect((await fetch(`${gateway.url}${target}`, { method: 'POST' })).status).toBe(status);
  const labels = `upstream="${upstream}",route="${route}",status="${status}",answered_by="${answeredBy}"`;
  expect(await metricLines(`gateway_requests_total{${labels}} `)).toHaveLength(1);
  expect(
    await metricLines(`gateway_request_duration_seconds_count{upstream="${upstream}",route="${route}"} `),
  ).toHaveLength(1);
  expect(await registry.metrics()).not.toMatch(/secret|order_updated/);
});

test('an attempt on an instance that is down is counted even if another instance responds', async () => {
  expect((await fetch(`${gateway.url}/v1/consignments`)).status).toBe(200);
  await metricLines('gateway_upstream_attempts_total{upstream="consignments",status="200"}');
  expect((await fetch(`${gateway.url}/v1/consignments`)).status).toBe(200);
  expect(
    await metricLines('gateway_upstream_attempts_total{upstream="consignments",status="502"}'),
  ).toHaveLength(1);
  expect(
    await metricLines(
      'gateway_requests_total{upstream="consignments",route="/v1/consignments",status="200",answered_by="service"}',
    ),
  ).toHaveLength(1);
});
