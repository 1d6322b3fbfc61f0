import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Gateway } from './gateway.ts';
import { expectProblem, request } from './http.ts';
import { startService, type Service } from './service.ts';

// services.yaml has no cells, so the modules that read it are loaded again with a list that has some.
let gateway: Gateway;
const names = ['store-webhooks', 'store-webhooks-b', 'wallet-operator', 'wallet-operator-b', 'quest-service'];
let backends: Map<string, Service>;

beforeAll(async () => {
  vi.resetModules();
  vi.doMock(import('@platform/service-list'), async (original) => {
    const list = await original();
    const { withCells } = await import('@platform/service-list/read');
    const cells = (name: string) => (['store-webhooks', 'wallet-operator'].includes(name) ? ['b'] : []);
    return {
      ...list,
      deployments: withCells(list.services.map((service) => ({ ...service, cells: cells(service.name) }))),
    };
  });
  backends = new Map(
    await Promise.all(
      names.map(
        async (name) =>
          [
            name,
            await startService(({ url }, response) => {
              // An address of a shop's page, or a path of the service.
              const location = url.includes('shop') ? 'https://shop.example.test/v1/paid' : '/v1/stores/1';
              response.writeHead(201, { Location: location }).end('{}');
            }),
          ] as const,
      ),
    ),
  );
  const { startGateway } = await import('./gateway.ts');
  gateway = await startGateway({
    upstreams: Object.fromEntries([...backends].map(([name, { address }]) => [name, address])),
    docsDir: import.meta.dirname,
  });
});
afterAll(async () => {
  vi.doUnmock('@platform/service-list');
  vi.resetModules();
  await gateway[Symbol.asyncDispose]();
  for (const service of backends.values()) await service[Symbol.asyncDispose]();
});

const receivedBy = () =>
  [...backends].flatMap(([name, { received }]) => received.splice(0).map(({ url }) => [name, url]));

test.each([
  ['store-webhooks-b', '/v1/stores'],
  ['store-webhooks-b', '/v1/stores?limit=1&b=%2F'],
  ['store-webhooks-b', '/v1/stores/a%20b/events?page=/cells/b'],
  ['store-webhooks-b', '/v1/feeds/store-webhooks/orders?wait=25'],
  ['store-webhooks-b', '/api/v1/hooks/order_updated/aB%2Dc~_x//y%2F%2fz'],
  ['wallet-operator-b', '/callback/debit'],
  ['wallet-operator-b', '/v1/reconciliations/1'],
])('%s receives %s byte for byte, without the prefix', async (service, target) => {
  expect((await request(gateway.port, `/cells/b${target}`)).status).toBe(201);
  expect(receivedBy()).toEqual([[service, target]]);
  await request(gateway.port, target);
  expect(receivedBy()).toEqual([[service.replace(/-b$/, ''), target]]);
});

test.each([
  '/cells',
  '/cells/',
  '/cells/b',
  '/cells/b/',
  '/cells/c/v1/stores',
  '/cells/B/v1/stores',
  '/cells//v1/stores',
  '/cells/b//v1/stores',
  '/cells/b/../v1/stores',
  '/cells/b/v1/stores/..',
  '/cells/b/v1/stores/%2e%2e/players',
  '/cells/b/v1/stores/..%2fplayers',
  '/cells/b%2fv1/stores',
  '/cells/%62/v1/stores',
  '/cells/../v1/stores',
  '/cells/b/cells/b/v1/stores',
  '/cells/b/v1/storesX',
  '/cells/b/v1/quests',
  '/cells/b/readyz',
  '/cells/b/metrics',
  '/cells/b/ops/summary',
  '/cells/b/docs/status/store-webhooks',
  '/cells/b/openapi.json',
  '/cells/b/openapi/quest-service.json',
  '/openapi/store-webhooks-b.json',
  '//cells/b/v1/stores',
])('%s is 404 and reaches no service', async (target) => {
  expectProblem(await request(gateway.port, target), 404, 'not_found');
  expect(receivedBy()).toEqual([]);
});

test('the OpenAPI document and the summary of a cell come from that cell', async () => {
  await request(gateway.port, '/cells/b/openapi/store-webhooks.json');
  await request(gateway.port, '/docs/ops/summary/wallet-operator-b');
  expect(receivedBy()).toEqual([
    ['store-webhooks-b', '/openapi.json'],
    ['wallet-operator-b', '/ops/summary'],
  ]);
});

test('the prefix is added to paths in redirects of a cell, but not to other origins or to paths of other services', async () => {
  const location = async (target: string) => (await request(gateway.port, target)).headers['location'];
  expect(await location('/cells/b/v1/stores')).toEqual(['/cells/b/v1/stores/1']);
  expect(await location('/cells/b/api/v1/hooks/shop/1')).toEqual(['https://shop.example.test/v1/paid']);
  expect(await location('/v1/stores')).toEqual(['/v1/stores/1']);
  receivedBy();
});

test('a cell receives no cookies and has the body limits of its service', async () => {
  await request(gateway.port, '/cells/b/v1/stores', 'GET', ['Cookie: session=secret']);
  expect(backends.get('store-webhooks-b')?.received.splice(0)[0]?.headers).not.toHaveProperty('cookie');
  const send = async (target: string, kilobytes: number) => {
    const body = 'x'.repeat(kilobytes * 1000);
    return (await request(gateway.port, target, 'POST', [`Content-Length: ${body.length}`], body)).status;
  };
  expect(await send('/cells/b/v1/stores', 90)).toBe(201);
  expect(await send('/cells/b/v1/stores', 110)).toBe(413);
  expect(await send('/cells/b/api/v1/hooks/order_updated/x', 1_000)).toBe(201);
  expect(await send('/cells/b/api/v1/hooks/order_updated/x', 1_100)).toBe(413);
  receivedBy();
});

test('the webhook token of a cell is in no log, whatever the case of the path', async () => {
  const token = 'fQx5o2RkYd1n8sT-3bUe_Wm0LpZcVhGa7iJrK4tXqNs';
  await request(gateway.port, `/cells/b/api/v1/hooks/order_updated/${token}`);
  for (const target of ['/cells/b/api/v1/HOOKS/x/short-token', '/cells/c/api/v1/hooks/x/short-token'])
    await request(gateway.port, target);
  const { 'access.log': log = '' } = await gateway.logs();
  expect(log).toContain('"/cells/b/api/v1/hooks/order_updated/***"');
  expect(log).not.toContain(token);
  expect(log).not.toContain('short-token');
});
