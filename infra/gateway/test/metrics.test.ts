import { createMetrics } from '@platform/gateway-telemetry/metrics';
import { startReceiver, type Receiver } from '@platform/gateway-telemetry/receiver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, until, type Gateway } from './gateway.ts';
import { request } from './http.ts';
import { freePort } from './ports.ts';
import { startService } from './service.ts';

const stack = new AsyncDisposableStack();
const { registry, record } = createMetrics();
let receiver: Receiver;
let gateway: Gateway;

beforeAll(async () => {
  receiver = stack.use(await startReceiver(0, { onRequest: record, onInvalid: () => undefined }));
  const service = stack.use(
    await startService(({ url }, response) => {
      if (url.includes('hang')) return;
      if (url.includes('close')) response.destroy();
      response.statusCode = url.includes('own-error') ? 502 : 200;
      response.end();
    }),
  );
  const down = async () => `127.0.0.1:${await freePort()}`;
  gateway = stack.use(
    await startGateway({
      upstreams: {
        'quest-service': service.place,
        'store-webhooks': service.place,
        consignments: [await down(), service.place],
        'verify-projects': await down(),
      },
      telemetry: `127.0.0.1:${receiver.port}`,
      timeouts: { answer: 300 },
    }),
  );
});
afterAll(() => stack.disposeAsync());

/** Lines of /metrics that have a text, once there is one. */
const lines = (text: string): Promise<string[]> =>
  until(async () => {
    const found = (await registry.metrics()).split('\n').filter((line) => line.includes(text));
    return found.length > 0 ? found : undefined;
  }, text);

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
  expect((await request(gateway.port, target, 'POST', ['Content-Length: 0'])).status).toBe(status);
  const labels = `upstream="${upstream}",route="${route}",status="${status}",answered_by="${answeredBy}"`;
  expect(await lines(`gateway_requests_total{${labels}} `)).toHaveLength(1);
  expect(
    await lines(`gateway_request_duration_seconds_count{upstream="${upstream}",route="${route}"} `),
  ).toHaveLength(1);
  expect(await registry.metrics()).not.toMatch(/secret|order_updated/);
});

test('an instance that is down is counted although another one responds', async () => {
  expect((await request(gateway.port, '/v1/consignments')).status).toBe(200);
  await lines('gateway_upstream_attempts_total{upstream="consignments",status="200"}');
  expect((await request(gateway.port, '/v1/consignments')).status).toBe(200);
  expect(await lines('gateway_upstream_attempts_total{upstream="consignments",status="502"}')).toHaveLength(
    1,
  );
  expect(
    await lines(
      'gateway_requests_total{upstream="consignments",route="/v1/consignments",status="200",answered_by="service"}',
    ),
  ).toHaveLength(1);
});
