import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { networkInterfaces } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificate } from './certificate.ts';
import { startGateway, freePort, type Gateway } from './gateway.ts';
import { expectProblem, request, type HttpResponse } from './http.ts';
import { startService, type Service } from './service.ts';

const stack = new AsyncDisposableStack();
const certificate = stack.use(await createCertificate());
let service: Service;
let gateway: Gateway;
let port: number;

const startTls = async (options: { redirectTo?: string; connectionsPerClient?: number } = {}) => {
  const { redirectTo, ...others } = options;
  const tlsPort = await freePort();
  const started = await startGateway({
    upstreams: { 'quest-service': service.address },
    tls: { listen: `127.0.0.1:${tlsPort}`, ...certificate.files, ...(redirectTo && { redirectTo }) },
    ...others,
  });
  return { gateway: started, port: tlsPort };
};

beforeAll(async () => {
  service = stack.use(await startService());
  ({ gateway, port } = await startTls());
  stack.use(gateway);
});
afterAll(() => stack.disposeAsync());

const openSession = async (sessionPort = port) => {
  const options = { ca: certificate.ca, servername: 'gateway.test' };
  const session = connectHttp2(`https://127.0.0.1:${sessionPort}`, options);
  await once(session, 'connect');
  return { session, [Symbol.dispose]: () => session.destroy() };
};

/** Sends one request in an HTTP/2 session. */
const send = (
  session: ClientHttp2Session,
  headers: Record<string, string> = {},
  body?: string,
): Promise<HttpResponse & { stream: number }> =>
  new Promise((resolve, reject) => {
    const stream = session.request(
      { ':authority': 'gateway.test', ':path': '/v1/quests', ...headers },
      { endStream: body === undefined },
    );
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    stream.on('error', reject);
    stream.on('response', (received) =>
      stream.on('end', () =>
        resolve({
          status: Number(received[':status']),
          headers: Object.fromEntries(
            Object.entries(received).map(([name, value]) => [name, [value ?? []].flat()]),
          ),
          body: text,
          stream: stream.id ?? 0,
        }),
      ),
    );
    if (body !== undefined) stream.end(body);
  });

describe('over HTTP/2', () => {
  test('requests of one connection reach a service with their body, host and scheme', async () => {
    using client = await openSession();
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((body) =>
        send(client.session, { ':path': `/v1/quests/${body}?a=%2F`, ':method': 'POST' }, body),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const received = service.received.splice(0);
    expect(Object.fromEntries(received.map(({ url, body }) => [url, body.toString()]))).toEqual({
      '/v1/quests/one?a=%2F': 'one',
      '/v1/quests/three?a=%2F': 'three',
      '/v1/quests/two?a=%2F': 'two',
    });
    for (const { headers } of received)
      expect(headers).toMatchObject({
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'gateway.test',
        'x-forwarded-for': '127.0.0.1',
      });
  });

  test.each([
    ['an unknown address', { ':path': '/nowhere' }, 404, 'not_found'],
    ['another spelling of an address', { ':path': '/v1/tasks/../quests' }, 404, 'not_found'],
  ])('%s gets a problem response, as over HTTP/1.1', async (_case, headers, status, code) => {
    using client = await openSession();
    expectProblem(await send(client.session, headers), status, code);
    expect(service.received).toEqual([]);
  });

  test('header fields of more than 32 KiB close the connection, because nginx sends no response to them', async () => {
    using client = await openSession();
    const closed = once(client.session, 'error');
    const fields = ['a', 'b', 'c', 'd', 'e'].map((name) => [`x-${name}`, 'X'.repeat(7_000)]);
    await expect(send(client.session, Object.fromEntries(fields))).rejects.toMatchObject({
      code: 'ERR_HTTP2_SESSION_ERROR',
    });
    await closed;
    expect(service.received).toEqual([]);
  });

  test('concurrent requests on one connection are counted separately', async () => {
    const limited = await startTls({ connectionsPerClient: 3 });
    await using _gateway = limited.gateway;
    using client = await openSession(limited.port);
    const unfinished = [1, 2, 3].map(() =>
      client.session
        .request(
          { ':path': '/v1/quests', ':method': 'POST', ':authority': 'gateway.test' },
          { endStream: false },
        )
        .on('error', () => undefined),
    );
    for (const stream of unfinished) stream.write('a part');
    const refused = await send(client.session);
    expectProblem(refused, 429, 'too_many_requests');
    for (const stream of unfinished) stream.end();
    await Promise.all(unfinished.map((stream) => once(stream.resume(), 'end')));
    service.received.splice(0);
    expect((await send(client.session)).status).toBe(200);
    service.received.splice(0);
  });
});

/** Returns the TLS version and the protocol that nginx and a client negotiate. */
const handshake = async (options: object): Promise<[string | null, string | false | null]> => {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    servername: 'gateway.test',
    ca: certificate.ca,
    ...options,
  });
  await once(socket, 'secureConnect');
  const negotiated: [string | null, string | false | null] = [socket.getProtocol(), socket.alpnProtocol];
  socket.destroy();
  return negotiated;
};

describe('TLS', () => {
  test('is 1.2 or 1.3, with HTTP/2 or HTTP/1.1 as the client prefers', async () => {
    expect(await handshake({ ALPNProtocols: ['h2', 'http/1.1'] })).toEqual(['TLSv1.3', 'h2']);
    expect(await handshake({ maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] })).toEqual([
      'TLSv1.2',
      'http/1.1',
    ]);
    await expect(
      handshake({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    ).rejects.toThrow(/protocol version/);
  });

  test('uses elliptic curves only, because a finite-field handshake costs the gateway much more than the client', async () => {
    for (const ecdhCurve of ['X25519', 'P-256', 'P-384'])
      expect(await handshake({ ecdhCurve })).toEqual(['TLSv1.3', false]);
    await expect(handshake({ ecdhCurve: 'ffdhe2048' })).rejects.toThrow(/handshake failure/);
    expect(await handshake({ ecdhCurve: 'ffdhe2048:P-256' })).toEqual(['TLSv1.3', false]);
  });

  test('is required for a year after a client has used it (HSTS), also in error responses', async () => {
    using client = await openSession();
    for (const path of ['/nowhere', '/v1/quests']) {
      const { headers } = await send(client.session, { ':path': path });
      expect(headers['strict-transport-security']).toEqual(['max-age=31536000']);
    }
    service.received.length = 0;
    expect((await request(gateway.port, '/nowhere')).headers).not.toHaveProperty('strict-transport-security');
  });

  test('is needed at the TLS port: a plain request gets a problem response', async () => {
    expectProblem(await request(port, '/v1/quests'), 400, 'bad_request');
  });

  test('is optional at other ports without redirectTo', async () => {
    expect((await request(gateway.port, '/v1/quests')).status).toBe(200);
    expect(service.received.splice(0)).toHaveLength(1);
  });

  test('is enforced by redirectTo for all requests except probes', async () => {
    const redirecting = await startTls({ redirectTo: 'https://gateway.test:8443' });
    await using plain = redirecting.gateway;
    const redirect = await request(plain.port, '/v1/quests?a=%2F', 'POST', ['Content-Length: 0']);
    expect([redirect.status, redirect.headers['location']]).toEqual([
      308,
      ['https://gateway.test:8443/v1/quests?a=%2F'],
    ]);
    expectProblem(await request(plain.port, '/nowhere'), 404, 'not_found');
    expect((await request(plain.port, '/healthz')).status).toBe(200);
    expect(service.received).toEqual([]);
    using client = await openSession(redirecting.port);
    expect((await send(client.session)).status).toBe(200);
    service.received.splice(0);
  });
});

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((networkInterface) => networkInterface?.address === '::1');

test.runIf(hasIpv6)('a client may connect over IPv6, and the service receives its address', async () => {
  const port = await freePort();
  await using both = await startGateway(
    { listen: [`127.0.0.1:${port}`, `[::1]:${port}`], upstreams: { 'quest-service': service.address } },
    port,
  );
  expect((await fetch(`http://[::1]:${port}/v1/quests`)).status).toBe(200);
  expect((await request(both.port, '/v1/quests')).status).toBe(200);
  expect(service.received.splice(0).map(({ headers }) => headers['x-forwarded-for'])).toEqual([
    '::1',
    '127.0.0.1',
  ]);
});
