import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, services } from '../src/addresses.ts';
import { startGateway, type Gateway } from './gateway.ts';
import { expectProblem, request } from './http.ts';
import { startService, type Service } from './service.ts';

// A deliberate copy of services.yaml, so that a mistake there fails this test.
const expectedPaths: Record<string, string[]> = {
  'task-manager': ['/api/v1/auth', '/api/v1/tasks', '/api/v1/lists', '/v1/feeds/task-manager'],
  'quest-service': ['/v1/quests', '/v1/feeds/quest-service'],
  'store-webhooks': ['/api/v1/hooks', '/v1/stores', '/v1/feeds/store-webhooks'],
  'wallet-operator': [
    '/callback',
    '/v1/players',
    '/v1/games',
    '/v1/rounds',
    '/v1/refusals',
    '/v1/launches',
    '/v1/audit',
    '/v1/currencies',
    '/v1/reconciliations',
  ],
  'verify-projects': ['/v1/projects', '/v1/languages', '/v1/api-keys', '/v1/feeds/verify-projects'],
  consignments: [
    '/v1/consignments',
    '/v1/partners',
    '/v1/inventory',
    '/v1/warehouses',
    '/v1/feeds/consignments',
  ],
};
const newRoutes = routes.filter(({ service, exact }) => !exact && !(service in expectedPaths));
const prefixes = [
  ...Object.entries(expectedPaths).flatMap(([name, paths]) => paths.map((path) => ({ name, path }))),
  ...newRoutes.map(({ service, path }) => ({ name: service, path })),
];

let gateway: Gateway;
let backends: Map<string, Service>;
let docsDir: string;

beforeAll(async () => {
  docsDir = await mkdtemp(join(tmpdir(), 'portal-'));
  await mkdir(join(docsDir, 'empty'));
  await writeFile(join(docsDir, 'index.html'), '<h1>portal</h1>');
  await writeFile(join(docsDir, 'app.js'), 'export {};');
  backends = new Map(await Promise.all(services.map(async (name) => [name, await startService()] as const)));
  const upstreams = Object.fromEntries([...backends].map(([name, { address }]) => [name, address]));
  gateway = await startGateway({ upstreams, docsDir });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const service of backends.values()) await service[Symbol.asyncDispose]();
  await rm(docsDir, { recursive: true });
});

const receivedBy = () =>
  new Map([...backends].flatMap(([name, { received }]) => received.splice(0).map(({ url }) => [name, url])));

describe('routes', () => {
  test('every service has exactly its expected addresses', () => {
    const listed = routes.filter(({ service, exact }) => !exact && service in expectedPaths);
    expect(Object.groupBy(listed, ({ service }) => service)).toEqual(
      Object.fromEntries(
        Object.entries(expectedPaths).map(([service, paths]) => [
          service,
          paths.map((path) => expect.objectContaining({ path }) as unknown),
        ]),
      ),
    );
  });

  test.each(prefixes)('$path and every path below it are routed to $name', async ({ name, path }) => {
    for (const target of [path, `${path}/`, `${path}?a=1`, `${path}/some/thing%20else?b=%2F&b=2`]) {
      expect((await request(gateway.port, target)).status).toBe(200);
      expect(receivedBy()).toEqual(new Map([[name, target]]));
    }
  });

  test.each(prefixes)('a path that only starts with the characters of $path is 404', async ({ path }) => {
    for (const target of [
      `${path}X`,
      `${path}-x/1`,
      `${path}.json`,
      `${path};a`,
      path.slice(0, -1),
      path.toUpperCase(),
      `/x${path}`,
    ])
      expectProblem(await request(gateway.port, target), 404, 'not_found');
    expect(receivedBy()).toEqual(new Map());
  });

  test.each([...services])('/openapi/%s.json returns the OpenAPI document of the service', async (name) => {
    expect((await request(gateway.port, `/openapi/${name}.json`)).status).toBe(200);
    expect(receivedBy()).toEqual(new Map([[name, '/openapi.json']]));
  });

  test.each([
    '/livez',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/openapi/other.json',
    '/openapi/',
    '/_problem/404',
    '/v1',
    '/favicon.ico',
  ])('%s is 404 and reaches no service', async (target) => {
    expectProblem(await request(gateway.port, target), 404, 'not_found');
    expect(receivedBy()).toEqual(new Map());
  });
});

describe('spelling', () => {
  test.each([
    '//v1/quests',
    '/v1//quests',
    '/v1/../v1/quests',
    '/metrics/../v1/quests',
    '/v1/quests/../../metrics',
    '/v1/quests/%2e%2e/%2E%2e/metrics',
    '/v1/quests/..%2f..%2fmetrics',
    '/v1/quests/.',
    '/v1/%71uests',
    '/v1%2fquests',
    '/v1/quests%0a',
    '/v1/quests#/../metrics',
    '/v1/quests/1#x',
    '/v1\\quests',
  ])('another spelling of an address (%s) is 404', async (target) => {
    expectProblem(await request(gateway.port, target), 404, 'not_found');
    expect(receivedBy()).toEqual(new Map());
  });

  test.each([
    '/api/v1/hooks/order_updated/aB%2Dc~_x//y%2F%2fz',
    '/v1/players/j%C3%BCrgen%20%E2%82%AC/entries?page=1&page=2',
    '/v1/quests/a;b=c/questions?Skip=%zz&Take=+1',
    '/v1/quests/...',
    '/v1/quests/x?next=/../../etc',
  ])('the rest of the target (%s) is forwarded byte for byte', async (target) => {
    expect((await request(gateway.port, target)).status).toBe(200);
    expect([...receivedBy().values()]).toEqual([target]);
  });

  test('an absolute target is routed by its path', async () => {
    expect((await request(gateway.port, 'http://elsewhere.test/v1/quests/1?x=y')).status).toBe(200);
    expect(receivedBy()).toEqual(new Map([['quest-service', '/v1/quests/1?x=y']]));
  });
});

describe("the gateway's own addresses", () => {
  test('/healthz reports that the gateway runs', async () => {
    const answer = await request(gateway.port, '/healthz');
    expect([answer.status, answer.headers['content-type'], JSON.parse(answer.body)]).toEqual([
      200,
      ['application/json'],
      { status: 'ok' },
    ]);
  });

  test('/docs serves the folder of the portal', async () => {
    const redirect = await request(gateway.port, '/docs');
    expect([redirect.status, redirect.headers['location']]).toEqual([308, ['/docs/']]);
    const page = await request(gateway.port, '/docs/');
    expect([page.status, page.headers['content-type'], page.body]).toEqual([
      200,
      ['text/html'],
      '<h1>portal</h1>',
    ]);
    expect((await request(gateway.port, '/docs/app.js')).headers['content-type']).toEqual([
      'text/javascript',
    ]);
  });

  test('/ redirects to the portal', async () => {
    for (const target of ['/', '/?from=elsewhere']) {
      const redirect = await request(gateway.port, target);
      expect([redirect.status, redirect.headers['location']]).toEqual([308, ['/docs/']]);
    }
    expect(receivedBy()).toEqual(new Map());
  });

  test('a missing page or an unsupported method below /docs gets a problem response', async () => {
    expectProblem(await request(gateway.port, '/docs/missing.html'), 404, 'not_found');
    expectProblem(await request(gateway.port, '/docs/empty/'), 404, 'not_found');
    expectProblem(await request(gateway.port, '/docs/x/../../etc/passwd'), 404, 'not_found');
    expectProblem(await request(gateway.port, '/docs/../../etc/passwd'), 400, 'bad_request');
    expect((await request(gateway.port, '/docs/app.js', 'GET', ['Range: bytes=900-'])).status).toBe(200);
    expectProblem(
      await request(gateway.port, '/docs/app.js', 'GET', ['If-Match: "other"']),
      412,
      'precondition_failed',
    );
    const refused = await request(gateway.port, '/docs/app.js', 'POST', ['Content-Length: 0']);
    expectProblem(refused, 405, 'method_not_allowed');
    expect(refused.headers['allow']).toEqual(['GET, HEAD']);
  });

  test('without docsDir /docs is 404', async () => {
    await using withoutPortal = await startGateway();
    for (const target of ['/', '/docs', '/docs/', '/docs/index.html', '/docs/demo'])
      expectProblem(await request(withoutPortal.port, target), 404, 'not_found');
  });
});
