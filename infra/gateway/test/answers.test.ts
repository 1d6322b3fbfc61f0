import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type Gateway } from './gateway.ts';
import { request } from './http.ts';
import { startService, type Service } from './service.ts';

let gateway: Gateway;
let service: Service;
/** The next response of the service; by default 200 with an empty object. */
let serviceResponse: { status?: number; headers?: Record<string, string>; body?: string | Buffer } = {};

beforeAll(async () => {
  service = await startService((_, response) => {
    const body = serviceResponse.body ?? '{}';
    const length = serviceResponse.status === 304 ? {} : { 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(serviceResponse.status ?? 200, {
      'Content-Type': 'application/json',
      ...length,
      ...serviceResponse.headers,
    });
    response.end(body);
  });
  gateway = await startGateway({ upstreams: { 'quest-service': service.address } });
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

describe('the response of a service', () => {
  test('a problem response with any status is forwarded unchanged', async () => {
    for (const status of [400, 404, 405, 413, 429, 500, 502, 503]) {
      serviceResponse = {
        status,
        headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '9' },
        body: `{"code":"own","status":${status}}`,
      };
      const { response } = await get();
      expect([
        response.status,
        response.body,
        response.headers['content-type'],
        response.headers['retry-after'],
      ]).toEqual([status, serviceResponse.body, ['application/problem+json'], ['9']]);
    }
  });

  test('a redirect with a long Location and a cookie is forwarded unchanged', async () => {
    serviceResponse = {
      status: 302,
      headers: {
        Location: `https://shop.example.test/?cavv=${'A%2B'.repeat(2_000)}`,
        'Set-Cookie': 'a=1; HttpOnly',
      },
    };
    const { response } = await get();
    expect([response.status, response.headers['location'], response.headers['set-cookie']]).toEqual([
      302,
      [serviceResponse.headers?.['Location']],
      ['a=1; HttpOnly'],
    ]);
  });

  test('X-Accel-Redirect has no effect, and headers that name the software of the service are removed', async () => {
    serviceResponse = {
      headers: { 'X-Accel-Redirect': '/_problem/404', 'X-Powered-By': 'Express', Server: 'node' },
      body: '{"a":1}',
    };
    const { response } = await get();
    expect([response.status, response.body, response.headers['server']]).toEqual([200, '{"a":1}', ['nginx']]);
    expect(response.headers).not.toHaveProperty('x-powered-by');
  });

  test('cache headers are forwarded', async () => {
    serviceResponse = {
      headers: { 'Cache-Control': 'no-store', Vary: 'Authorization, Cookie' },
      body: JSON.stringify('x'.repeat(5_000)),
    };
    const { response } = await get('Accept-Encoding: gzip');
    expect(response.headers['cache-control']).toEqual(['no-store']);
    expect(response.headers['vary']).toEqual(['Authorization, Cookie']);
  });

  test('304 is forwarded with its ETag and Vary', async () => {
    serviceResponse = { status: 304, headers: { ETag: '"7"', Vary: 'Authorization' } };
    const { response } = await get('If-None-Match: "7"');
    expect([response.status, response.headers['etag']]).toEqual([304, ['"7"']]);
    expect(response.headers['vary']).toEqual(['Authorization']);
  });

  test('the gateway does not compress: compressing a large page would block all other clients of its worker', async () => {
    serviceResponse = { headers: { ETag: '"7"' }, body: JSON.stringify('x'.repeat(5_000)) };
    const { response } = await get('Accept-Encoding: gzip');
    expect(response.headers).not.toHaveProperty('content-encoding');
    expect([response.body, response.headers['etag']]).toEqual([serviceResponse.body, ['"7"']]);
  });

  test('If-Match reaches the service unchanged, even if it is empty', async () => {
    serviceResponse = { headers: { ETag: '"7"' } };
    for (const field of ['W/"7"', '"7"', '*', 'W/"7", "8"', 'W/7', ''])
      expect((await get(`If-Match: ${field}`)).received.headers['if-match']).toBe(field);
    expect((await get()).received.headers).not.toHaveProperty('if-match');
  });

  test('a response that a service has compressed is forwarded unchanged', async () => {
    const bytes = gzipSync(JSON.stringify('x'.repeat(50_000)));
    serviceResponse = { headers: { 'Content-Encoding': 'gzip' }, body: bytes };
    const { response } = await get('Accept-Encoding: gzip');
    expect([response.headers['content-encoding'], response.headers['content-length']]).toEqual([
      ['gzip'],
      [String(bytes.length)],
    ]);
  });

  test('Strict-Transport-Security of a service is removed', async () => {
    serviceResponse = { headers: { 'Strict-Transport-Security': 'max-age=1; includeSubDomains' } };
    expect((await get()).response.headers).not.toHaveProperty('strict-transport-security');
  });
});
