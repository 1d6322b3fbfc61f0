import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type Gateway } from './gateway.ts';
import { exchange, expectProblem, request, sendBytes } from './http.ts';
import { startService, type Service } from './service.ts';

let gateway: Gateway;
let service: Service;

beforeAll(async () => {
  service = await startService();
  gateway = await startGateway({ upstreams: { 'quest-service': service.address } });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const head = (line: string, ...fields: string[]): string => [line, ...fields, '', ''].join('\r\n');
const host = 'Host: gateway.test';
const close = 'Connection: close';

describe('a malformed request', () => {
  test.each([
    ['no Host', head('GET /v1/quests HTTP/1.1', close)],
    ['an impossible Host', head('GET /v1/quests HTTP/1.1', 'Host: a/b', close)],
    ['two Hosts', head('GET /v1/quests HTTP/1.1', host, 'Host: other.test', close)],
    ['bad percent-encoding', head('GET /v1/quests/%zz HTTP/1.1', host, close)],
    ['half a percent-encoding', head('GET /v1/quests/%4 HTTP/1.1', host, close)],
    ['an encoded NUL', head('GET /v1/quests/%00 HTTP/1.1', host, close)],
    ['a NUL in the target', head('GET /v1/quests/\0 HTTP/1.1', host, close)],
    ['a NUL in a field', head('GET /v1/quests HTTP/1.1', host, 'X-A: a\0b', close)],
    ['a space in the target', head('GET /v1/quests/a b HTTP/1.1', host, close)],
    ['more steps up than down', head('GET /v1/../../quests HTTP/1.1', host, close)],
    ['a method in lower case', head('get /v1/quests HTTP/1.1', host, close)],
    ['no method', head('/v1/quests HTTP/1.1', host, close)],
    ['garbage', '\x01\x02\x03\xff\xfe\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n'],
    ['a protocol that is not HTTP', head('GET /v1/quests FTP/1.1', host, close)],
    ["a space before a field's colon", head('GET /v1/quests HTTP/1.1', host, 'X-A : b', close)],
    [
      'a Content-Length that is not a number',
      head('POST /v1/quests HTTP/1.1', host, 'Content-Length: 1e3', close),
    ],
    ['a negative Content-Length', head('POST /v1/quests HTTP/1.1', host, 'Content-Length: -1', close)],
    [
      'two Content-Lengths',
      head('POST /v1/quests HTTP/1.1', host, 'Content-Length: 0', 'Content-Length: 5', close),
    ],
    [
      'two equal Content-Lengths',
      head('POST /v1/quests HTTP/1.1', host, 'Content-Length: 0', 'Content-Length: 0', close),
    ],
    [
      'Content-Length and Transfer-Encoding',
      head('POST /v1/quests HTTP/1.1', host, 'Content-Length: 5', 'Transfer-Encoding: chunked', close) +
        '0\r\n\r\n',
    ],
    [
      'two Transfer-Encodings',
      head(
        'POST /v1/quests HTTP/1.1',
        host,
        'Transfer-Encoding: chunked',
        'Transfer-Encoding: chunked',
        close,
      ) + '0\r\n\r\n',
    ],
    [
      'Transfer-Encoding in HTTP/1.0',
      head('POST /v1/quests HTTP/1.0', host, 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    ],
    [
      'chunks without a length',
      head('POST /v1/quests HTTP/1.1', host, 'Transfer-Encoding: chunked', close) + 'zz\r\nx\r\n0\r\n\r\n',
    ],
  ])('%s is 400 and reaches no service', async (_, bytes) => {
    expectProblem(await exchange(gateway.port, bytes), 400, 'bad_request');
    expect(service.received).toEqual([]);
  });

  test.each([
    '',
    ' ',
    'a/b',
    'a b',
    '[::1',
    'a..b',
    '..',
    'a\0',
    'a:b',
    '[::1]x',
    'x'.repeat(300),
    'a@b',
    '"',
  ])('the Host %j gets a response, not only a closed connection', async (name) => {
    const bytes = head('GET /nowhere HTTP/1.1', `Host: ${name}`, close);
    expect((await exchange(gateway.port, bytes)).headers['content-type']).toEqual([
      'application/problem+json',
    ]);
  });

  test('HTTP/0.9 gets a problem response without headers, because that protocol has none', async () => {
    for (const line of ['GET /v1/quests\r\n', 'GET /nowhere\r\n'])
      expect(JSON.parse(await sendBytes(gateway.port, line))).toMatchObject({
        status: 400,
        code: 'bad_request',
      });
    expect(service.received).toEqual([]);
  });

  test('lines without a carriage return are accepted and forwarded with one', async () => {
    expect((await exchange(gateway.port, `GET /v1/quests HTTP/1.1\n${host}\n${close}\n\n`)).status).toBe(200);
    expect(service.received.splice(0)).toMatchObject([
      { url: '/v1/quests', headers: { host: 'gateway.test' } },
    ]);
  });

  test('bytes after the body are not treated as another request (request smuggling)', async () => {
    const smuggled =
      head('POST /v1/quests HTTP/1.1', host, 'Transfer-Encoding: xchunked', 'Content-Length: 4', close) +
      head('GET /v1/quests/smuggled HTTP/1.1', host);
    expect((await exchange(gateway.port, smuggled)).status).toBeGreaterThanOrEqual(400);
    expect(service.received).toEqual([]);
  });
});

describe('a request that nginx rejects', () => {
  test('an unknown transfer encoding is 501', async () => {
    expectProblem(
      await exchange(gateway.port, head('POST /v1/quests HTTP/1.1', host, 'Transfer-Encoding: gzip', close)),
      501,
      'not_implemented',
    );
  });

  test('HTTP/2 without TLS is 505', async () => {
    expectProblem(
      await exchange(gateway.port, head('GET /v1/quests HTTP/2.0', host)),
      505,
      'http_version_not_supported',
    );
    expect(await sendBytes(gateway.port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).toContain(
      'application/problem+json',
    );
  });

  test.each([
    ['TRACE', '/v1/quests'],
    ['CONNECT', '/v1/quests'],
  ])('%s is 405 with Allow', async (method, target) => {
    const answer = await request(gateway.port, target, method);
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers['allow']).toEqual(['GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
  });

  test('other methods are forwarded to the service', async () => {
    expect((await request(gateway.port, '/v1/quests', 'PURGE')).status).toBe(200);
    expect(service.received.splice(0)).toMatchObject([{ method: 'PURGE' }]);
  });

  test('a target of 8,192 bytes is accepted, one of 9,000 is 414', async () => {
    const targetOf = (bytes: number): string => '/v1/quests/'.padEnd(bytes, 'x');
    expect((await request(gateway.port, targetOf(8_192), 'OPTIONS')).status).toBe(200);
    expect(service.received.splice(0)[0]?.url).toHaveLength(8_192);
    expectProblem(await request(gateway.port, targetOf(9_000)), 414, 'uri_too_long');
    expectProblem(await request(gateway.port, targetOf(100_000)), 414, 'uri_too_long');
  });

  test('a header that is too long and too many headers are 431', async () => {
    expectProblem(
      await request(gateway.port, '/v1/quests', 'GET', [`X-Long: ${'x'.repeat(9_000)}`]),
      431,
      'headers_too_large',
    );
    const many = Array.from({ length: 10 }, (_, index) => `X-${index}: ${'x'.repeat(4_000)}`);
    expectProblem(await request(gateway.port, '/v1/quests', 'GET', many), 431, 'headers_too_large');
    expect(service.received).toEqual([]);
  });

  test('HEAD is rejected without a body', async () => {
    const answer = await request(gateway.port, '/nowhere', 'HEAD');
    expect([answer.status, answer.headers['content-type'], answer.body]).toEqual([
      404,
      ['application/problem+json'],
      '',
    ]);
  });

  test('a large body for an unknown address is 404', async () => {
    expectProblem(
      await request(gateway.port, '/nowhere', 'POST', ['Content-Length: 300000'], 'x'.repeat(300_000)),
      404,
      'not_found',
    );
  });
});

test('an error of the gateway itself is 500', async () => {
  const docsDir = await mkdtemp(join(tmpdir(), 'portal-'));
  await chmod(docsDir, 0o755);
  // A socket file exists but cannot be opened; this error is neither "not found" nor "forbidden".
  const socket = createServer().listen(join(docsDir, 'socket'));
  await once(socket, 'listening');
  await using broken = await startGateway({ docsDir });
  expectProblem(await request(broken.port, '/docs/socket'), 500, 'internal_error');
  socket.close();
  await rm(docsDir, { recursive: true });
});
