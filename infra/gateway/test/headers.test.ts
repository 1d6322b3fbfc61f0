import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, services } from '../src/addresses.ts';
import { startGateway, type Gateway } from './gateway.ts';
import { exchange, expectProblem, request } from './http.ts';
import { startService, type Service } from './service.ts';

let gateway: Gateway;
let service: Service;

beforeAll(async () => {
  service = await startService(({ headers }, response) => {
    response.setHeader('X-Request-Id', headers['x-request-id'] ?? '');
    response.end('{}');
  });
  gateway = await startGateway({
    upstreams: Object.fromEntries(services.map((name) => [name, service.address])),
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const get = async (...fields: string[]) => {
  const response = await request(gateway.port, '/v1/quests/1', 'GET', fields);
  const [received] = service.received.splice(0);
  if (!received) throw new Error('the service received no request');
  return { response, received };
};

describe('X-Request-Id', () => {
  test.each(['a', 'A-b_c.9', 'x'.repeat(128)])('%s is kept, forwarded, and returned once', async (id) => {
    const { response, received } = await get(`X-Request-Id: ${id}`);
    expect(received.headers['x-request-id']).toBe(id);
    expect(received.names.filter((name) => name.toLowerCase() === 'x-request-id')).toHaveLength(1);
    expect(response.headers['x-request-id']).toEqual([id]);
    expect(await gateway.entry(id)).toMatchObject({ requestId: id, status: 200, service: 'quest-service' });
  });

  test.each(['', 'x'.repeat(129), 'a b', 'a"b', 'a/b', 'ä', '{}'])(
    '%j is replaced by a generated id',
    async (id) => {
      const { response, received } = await get(`X-Request-Id: ${id}`);
      expect(received.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
      expect(response.headers['x-request-id']).toEqual([received.headers['x-request-id']]);
    },
  );

  test('is also in problem responses of the gateway', async () => {
    const response = await request(gateway.port, '/nowhere', 'GET', ['X-Request-Id: mine']);
    expectProblem(response, 404, 'not_found');
    expect(response.headers['x-request-id']).toEqual(['mine']);
  });
});

describe('the address of the client', () => {
  test('is that of the connection, whatever headers the client sends', async () => {
    const { received } = await get(
      'X-Forwarded-For: 6.6.6.6',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: evil.test',
      'X-Forwarded-Port: 1',
      'X-Forwarded-Prefix: /evil',
      'Forwarded: for=6.6.6.6',
      'X-Real-IP: 6.6.6.6',
      'X-Original-URL: /metrics',
      'X-Rewrite-URL: /metrics',
      'Proxy: evil.test',
    );
    expect(received.headers).toMatchObject({
      host: 'gateway.test',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'gateway.test',
    });
    for (const name of [
      'x-forwarded-port',
      'x-forwarded-prefix',
      'forwarded',
      'x-real-ip',
      'x-original-url',
      'x-rewrite-url',
      'proxy',
    ])
      expect(received.headers).not.toHaveProperty(name);
  });

  test('is taken from the header of a trusted proxy', async () => {
    await using behindProxy = await startGateway({
      upstreams: { 'quest-service': service.address },
      trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'],
    });
    const fields = [
      'X-Forwarded-For: 6.6.6.6, 203.0.113.9, 10.1.2.3',
      'X-Forwarded-Proto: https',
      'X-Request-Id: proxied',
    ];
    await request(behindProxy.port, '/v1/quests', 'GET', fields);
    const [received] = service.received.splice(0);
    expect(received?.headers).toMatchObject({
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'https',
    });
    expect(await behindProxy.entry('proxied')).toMatchObject({ client: '203.0.113.9' });
  });

  test('is not taken from the header of another proxy', async () => {
    await using behindProxy = await startGateway({
      upstreams: { 'quest-service': service.address },
      trustedProxies: ['10.0.0.0/8'],
    });
    await request(behindProxy.port, '/v1/quests', 'GET', [
      'X-Forwarded-For: 6.6.6.6',
      'X-Forwarded-Proto: https',
    ]);
    const [received] = service.received.splice(0);
    expect(received?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
  });

  test('the host keeps its port, and the host of an absolute target has precedence', async () => {
    const hostReceived = async (target: string, host: string) => {
      await exchange(gateway.port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return service.received.splice(0)[0]?.headers['host'];
    };
    expect(await hostReceived('/v1/quests', 'Gateway.test:8080')).toBe('Gateway.test:8080');
    expect(await hostReceived('/v1/quests', '[::1]:8080')).toBe('[::1]:8080');
    expect(await hostReceived('http://first.test/v1/quests', 'second.test:80')).toBe('first.test');
    await exchange(gateway.port, 'GET /v1/quests HTTP/1.0\r\n\r\n');
    expect(service.received.splice(0)[0]?.headers['host']).toBe('gateway');
  });
});

describe('a request', () => {
  test('credentials, signatures and conditions reach the service unchanged', async () => {
    const sentHeaders = {
      authorization: 'Bearer a.b.c',
      'x-api-key': 'vk_live_abc',
      'x-timestamp': '1700000000',
      'x-hmac-sha256': 'ab'.repeat(32),
      'if-none-match': 'W/"7"',
      'idempotency-key': 'k-1',
      'x-onfleet-signature': 'cd'.repeat(64),
      'persona-signature': 't=1,v1=ab',
      accept: 'application/json',
    };
    const { received } = await get(
      ...Object.entries(sentHeaders).map(([name, value]) => `${name}: ${value}`),
    );
    expect(received.headers).toMatchObject(sentHeaders);
  });

  test('cookies reach only the service that sets them', async () => {
    const cookie = '__Host-tasks_access=1; __Host-tasks_refresh=2';
    const servicesWithCookies = new Set<string>();
    const addresses = routes.map(({ path, service }) => [path.replace('*', '1'), service] as const);
    const documents = services.map((name) => [`/openapi/${name}.json`, 'a document'] as const);
    for (const [path, name] of [...addresses, ...documents]) {
      await request(gateway.port, path, 'GET', [`Cookie: ${cookie}`]);
      const [received] = service.received.splice(0);
      if (!received) throw new Error(`${path} reached no service`);
      if (received.headers['cookie'] !== undefined) servicesWithCookies.add(name);
      expect([undefined, cookie]).toContain(received.headers['cookie']);
    }
    expect([...servicesWithCookies]).toEqual(['task-manager']);
  });

  test('header names with underscores and hop-by-hop headers are not forwarded', async () => {
    const { received } = await get(
      'X_Forwarded_For: 6.6.6.6',
      'authorization_: x',
      'Upgrade: websocket',
      'TE: trailers',
      'Keep-Alive: timeout=5',
    );
    for (const name of ['x_forwarded_for', 'authorization_', 'upgrade', 'te', 'keep-alive'])
      expect(received.headers).not.toHaveProperty(name);
  });

  test('a body arrives unchanged', async () => {
    const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte)).repeat(300);
    await request(
      gateway.port,
      '/v1/quests',
      'POST',
      [`Content-Length: ${bytes.length}`, 'Content-Type: application/json'],
      bytes,
    );
    expect(service.received.splice(0)[0]?.body.toString('latin1')).toBe(bytes);
    const chunked = 'Transfer-Encoding: chunked';
    await request(gateway.port, '/v1/quests', 'POST', [chunked], '5;x=y\r\n{ "a"\r\n3\r\n:1}\r\n0\r\n\r\n');
    expect(service.received.splice(0)[0]?.body.toString()).toBe('{ "a":1}');
  });
});
