import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type Gateway } from './gateway.ts';
import { exchange, expectProblem, request } from './http.ts';
import { startService, type Service } from './service.ts';

let gateway: Gateway;
let service: Service;
/** What the service answers beside an empty object. */
let said: { status?: number; headers?: Record<string, string>; body?: string } = {};

beforeAll(async () => {
  service = await startService((_, response) => {
    const body = said.body ?? '{}';
    const length = said.status === 304 ? {} : { 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(said.status ?? 200, {
      'Content-Type': 'application/json',
      ...length,
      ...said.headers,
    });
    response.end(body);
  });
  gateway = await startGateway({ upstreams: { 'quest-service': service.place } });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const get = async (...fields: string[]) => {
  const answer = await request(gateway.port, '/v1/quests/1', 'GET', fields);
  const [received] = service.received.splice(0);
  if (!received) throw new Error('the service got nothing');
  return { answer, received };
};

describe('X-Request-Id', () => {
  test.each(['a', 'A-b_c.9', 'x'.repeat(128)])('%s is taken, passed on and answered once', async (id) => {
    said = { headers: { 'X-Request-Id': id } };
    const { answer, received } = await get(`X-Request-Id: ${id}`);
    expect(received.headers['x-request-id']).toBe(id);
    expect(received.names.filter((name) => name.toLowerCase() === 'x-request-id')).toHaveLength(1);
    expect(answer.headers['x-request-id']).toEqual([id]);
    expect(await gateway.entry(id)).toMatchObject({ requestId: id, status: 200, service: 'quest-service' });
  });

  test.each(['', 'x'.repeat(129), 'a b', 'a"b', 'a/b', 'ä', '{}'])(
    '%j is replaced by one of our own',
    async (id) => {
      said = {};
      const { answer, received } = await get(`X-Request-Id: ${id}`);
      expect(received.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
      expect(answer.headers['x-request-id']).toEqual([received.headers['x-request-id']]);
    },
  );

  test('is in the problems of the gateway as well', async () => {
    const answer = await request(gateway.port, '/nowhere', 'GET', ['X-Request-Id: mine']);
    expectProblem(answer, 404, 'not_found');
    expect(answer.headers['x-request-id']).toEqual(['mine']);
  });
});

describe('who is calling', () => {
  test('is what the gateway saw, whatever the caller says of itself', async () => {
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

  test('is what a trusted proxy says', async () => {
    await using behindProxy = await startGateway({
      upstreams: { 'quest-service': service.place },
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

  test('a proxy that is not on the list is not believed', async () => {
    await using behindProxy = await startGateway({
      upstreams: { 'quest-service': service.place },
      trustedProxies: ['10.0.0.0/8'],
    });
    await request(behindProxy.port, '/v1/quests', 'GET', [
      'X-Forwarded-For: 6.6.6.6',
      'X-Forwarded-Proto: https',
    ]);
    const [received] = service.received.splice(0);
    expect(received?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
  });

  test('the host keeps its port, and the host of an absolute target wins', async () => {
    const ask = async (target: string, host: string) => {
      await exchange(gateway.port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return service.received.splice(0)[0]?.headers['host'];
    };
    expect(await ask('/v1/quests', 'Gateway.test:8080')).toBe('Gateway.test:8080');
    expect(await ask('/v1/quests', '[::1]:8080')).toBe('[::1]:8080');
    expect(await ask('http://first.test/v1/quests', 'second.test:80')).toBe('first.test');
    await exchange(gateway.port, 'GET /v1/quests HTTP/1.0\r\n\r\n');
    expect(service.received.splice(0)[0]?.headers['host']).toBe('gateway');
  });
});

describe('what a caller sends', () => {
  test('credentials, signatures and conditions reach the service unchanged', async () => {
    const sent = {
      authorization: 'Bearer a.b.c',
      cookie: 'session=1; other=2',
      'x-api-key': 'vk_live_abc',
      'x-timestamp': '1700000000',
      'x-hmac-sha256': 'ab'.repeat(32),
      'if-none-match': 'W/"7"',
      'idempotency-key': 'k-1',
      'x-onfleet-signature': 'cd'.repeat(64),
      'persona-signature': 't=1,v1=ab',
      accept: 'application/json',
    };
    const { received } = await get(...Object.entries(sent).map(([name, value]) => `${name}: ${value}`));
    expect(received.headers).toMatchObject(sent);
  });

  test('fields with underscores and those of the connection stay behind', async () => {
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

  test('a body arrives byte for byte', async () => {
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

describe('what a service answers', () => {
  test('its own problem passes unchanged, whatever its status', async () => {
    for (const status of [400, 404, 405, 413, 429, 500, 502, 503]) {
      said = {
        status,
        headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '9' },
        body: `{"code":"own","status":${status}}`,
      };
      const { answer } = await get();
      expect([
        answer.status,
        answer.body,
        answer.headers['content-type'],
        answer.headers['retry-after'],
      ]).toEqual([status, said.body, ['application/problem+json'], ['9']]);
    }
  });

  test('a redirect with its long Location and several cookies pass unchanged', async () => {
    said = {
      status: 302,
      headers: {
        Location: `https://shop.example.test/?cavv=${'A%2B'.repeat(2_000)}`,
        'Set-Cookie': 'a=1; HttpOnly',
      },
    };
    const { answer } = await get();
    expect([answer.status, answer.headers['location'], answer.headers['set-cookie']]).toEqual([
      302,
      [said.headers?.['Location']],
      ['a=1; HttpOnly'],
    ]);
  });

  test('it cannot make the gateway serve something else, nor tell what it is made with', async () => {
    said = {
      headers: { 'X-Accel-Redirect': '/_problem/404', 'X-Powered-By': 'Express', Server: 'node' },
      body: '{"a":1}',
    };
    const { answer } = await get();
    expect([answer.status, answer.body, answer.headers['server']]).toEqual([200, '{"a":1}', ['nginx']]);
    expect(answer.headers).not.toHaveProperty('x-powered-by');
  });

  test('304 and its ETag pass', async () => {
    said = { status: 304, headers: { ETag: '"7"' } };
    const { answer } = await get('If-None-Match: "7"');
    expect([answer.status, answer.headers['etag']]).toEqual([304, ['"7"']]);
  });

  test('JSON is compressed for those who ask, from 1 kB', async () => {
    said = { headers: { ETag: '"7"' }, body: JSON.stringify('x'.repeat(5_000)) };
    const { answer } = await get('Accept-Encoding: gzip');
    expect([answer.headers['content-encoding'], answer.headers['vary']]).toEqual([
      ['gzip'],
      ['Accept-Encoding'],
    ]);
    const raw = await fetch(`${gateway.url}/v1/quests`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(await raw.text()).toBe(said.body);
    expect((await get()).answer.body).toBe(said.body);
    said = { body: '{}' };
    expect((await get('Accept-Encoding: gzip')).answer.headers).not.toHaveProperty('content-encoding');
  });

  test('an ETag that compression has weakened still holds in If-Match', async () => {
    said = { headers: { ETag: '"7"' }, body: JSON.stringify('x'.repeat(5_000)) };
    const { answer } = await get('Accept-Encoding: gzip');
    expect(answer.headers['etag']).toEqual(['W/"7"']);
    expect((await get('If-Match: W/"7"')).received.headers['if-match']).toBe('"7"');
    for (const other of ['"7"', '*', 'W/"7", "8"', 'W/7'])
      expect((await get(`If-Match: ${other}`)).received.headers['if-match']).toBe(other);
    expect((await get()).received.headers).not.toHaveProperty('if-match');
  });
});
