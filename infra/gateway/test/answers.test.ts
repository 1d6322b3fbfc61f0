import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type Gateway } from './gateway.ts';
import { request } from './http.ts';
import { startService, type Service } from './service.ts';

let gateway: Gateway;
let service: Service;
/** What the service answers beside an empty object. */
let said: { status?: number; headers?: Record<string, string>; body?: string | Buffer } = {};

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

describe('the response of a service', () => {
  test('a problem response passes unchanged, whatever its status', async () => {
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

  test('X-Accel-Redirect has no effect, and headers that name its software are removed', async () => {
    said = {
      headers: { 'X-Accel-Redirect': '/_problem/404', 'X-Powered-By': 'Express', Server: 'node' },
      body: '{"a":1}',
    };
    const { answer } = await get();
    expect([answer.status, answer.body, answer.headers['server']]).toEqual([200, '{"a":1}', ['nginx']]);
    expect(answer.headers).not.toHaveProperty('x-powered-by');
  });

  test('cache headers pass', async () => {
    said = {
      headers: { 'Cache-Control': 'no-store', Vary: 'Authorization, Cookie' },
      body: JSON.stringify('x'.repeat(5_000)),
    };
    const { answer } = await get('Accept-Encoding: gzip');
    expect(answer.headers['cache-control']).toEqual(['no-store']);
    expect(answer.headers['vary']).toEqual(['Authorization, Cookie']);
  });

  test('304 passes with its ETag and its Vary', async () => {
    said = { status: 304, headers: { ETag: '"7"', Vary: 'Authorization' } };
    const { answer } = await get('If-None-Match: "7"');
    expect([answer.status, answer.headers['etag']]).toEqual([304, ['"7"']]);
    expect(answer.headers['vary']).toEqual(['Authorization']);
  });

  test('the gateway compresses nothing itself: a page of megabytes would keep its worker from all other clients', async () => {
    said = { headers: { ETag: '"7"' }, body: JSON.stringify('x'.repeat(5_000)) };
    const { answer } = await get('Accept-Encoding: gzip');
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect([answer.body, answer.headers['etag']]).toEqual([said.body, ['"7"']]);
  });

  test('If-Match reaches the service as it was sent, also empty, which is no permission', async () => {
    said = { headers: { ETag: '"7"' } };
    for (const field of ['W/"7"', '"7"', '*', 'W/"7", "8"', 'W/7', ''])
      expect((await get(`If-Match: ${field}`)).received.headers['if-match']).toBe(field);
    expect((await get()).received.headers).not.toHaveProperty('if-match');
  });

  test('what a service has compressed stays as it is', async () => {
    const bytes = gzipSync(JSON.stringify('x'.repeat(50_000)));
    said = { headers: { 'Content-Encoding': 'gzip' }, body: bytes };
    const { answer } = await get('Accept-Encoding: gzip');
    expect([answer.headers['content-encoding'], answer.headers['content-length']]).toEqual([
      ['gzip'],
      [String(bytes.length)],
    ]);
  });

  test('only the gateway decides about Strict-Transport-Security', async () => {
    said = { headers: { 'Strict-Transport-Security': 'max-age=1; includeSubDomains' } };
    expect((await get()).answer.headers).not.toHaveProperty('strict-transport-security');
  });
});
