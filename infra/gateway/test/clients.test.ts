import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, waitFor } from './gateway.ts';
import { expectProblem, request, type HttpResponse } from './http.ts';
import { startService, type Service } from './service.ts';

let service: Service;
const names = ['quest-service', 'store-webhooks', 'wallet-operator'];
const upstreams = () => Object.fromEntries(names.map((name) => [name, service.address]));

beforeAll(async () => {
  service = await startService((_, response) => response.end('{}'));
});
afterAll(() => service[Symbol.asyncDispose]());

const ask = (port: number, target: string, count: number, fields: (index: number) => string[] = () => []) =>
  Promise.all(Array.from({ length: count }, (_, index) => request(port, target, 'GET', fields(index))));
const statuses = (responses: HttpResponse[]) => new Set(responses.map(({ status }) => status));

const expectTooMany = (refused: HttpResponse): void => {
  expectProblem(refused, 429, 'too_many_requests');
  expect(refused.headers['retry-after']).toEqual(['1']);
};

describe('the request rate of one client', () => {
  test('is unlimited without the option rateLimit', async () => {
    await using gateway = await startGateway({ upstreams: upstreams() });
    expect(statuses(await ask(gateway.port, '/v1/quests', 100))).toEqual(new Set([200]));
  });

  test('gets 429 with Retry-After above the limit, except for webhooks and callbacks', async () => {
    await using limited = await startGateway({
      upstreams: upstreams(),
      rateLimit: { perSecond: 1, burst: 3 },
    });
    const answers = await ask(limited.port, '/v1/quests', 20);
    expect(statuses(answers)).toEqual(new Set([200, 429]));
    for (const refused of answers.filter(({ status }) => status === 429)) expectTooMany(refused);
    for (const target of ['/api/v1/hooks/order_updated/t', '/callback/debit'])
      expect(statuses(await ask(limited.port, target, 20))).toEqual(new Set([200]));
  });

  test('is counted for all IPv6 addresses of a /64 together, and for each IPv4 address', async () => {
    await using limited = await startGateway({
      upstreams: upstreams(),
      rateLimit: { perSecond: 1, burst: 1 },
      trustedProxies: ['127.0.0.1'],
    });
    const from = (address: (index: number) => string) =>
      ask(limited.port, '/v1/quests', 10, (index) => [`X-Forwarded-For: ${address(index)}`]);
    const oneNetwork = await from((index) => `2001:db8:0:1::${index}a0a`);
    expect(statuses(oneNetwork)).toContain(429);
    expect(statuses(await from((index) => `2001:db8:0:${index + 2}::1`))).toEqual(new Set([200]));
    expect(statuses(await from((index) => `203.0.113.${index}`))).toEqual(new Set([200]));
    expect(statuses(await from((index) => `::ffff:198.51.100.${index}`))).toEqual(new Set([200]));
  });
});

describe('concurrent requests of one client', () => {
  const unfinished = 'HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n';

  const open = async (port: number, count: number, fields = '') => {
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}));
    const texts = sockets.map(() => '');
    for (const [index, socket] of sockets.entries())
      socket.on('data', (chunk: Buffer) => (texts[index] += chunk.toString()));
    for (const socket of sockets) socket.write(`POST /v1/quests ${unfinished}${fields}\r\n12345`);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return {
      /** Number of connections that received 429. */
      refused: () => texts.filter((text) => text.startsWith('HTTP/1.1 429 ')).length,
      [Symbol.dispose]: () => sockets.forEach((socket) => void socket.destroy()),
    };
  };

  test('get 429 with Retry-After above the limit; other clients, webhooks and probes are served', async () => {
    await using limited = await startGateway({
      upstreams: upstreams(),
      connectionsPerClient: 5,
      trustedProxies: ['127.0.0.1'],
    });
    const client = 'X-Forwarded-For: 2001:db8::1\r\n';
    using _held = await open(limited.port, 5, client);
    const sameClient = ['X-Forwarded-For: 2001:db8::2'];
    const refused = await waitFor(async () => {
      const answer = await request(limited.port, '/v1/quests', 'GET', sameClient);
      return answer.status === 429 ? answer : undefined;
    }, 'a refusal');
    expectTooMany(refused);
    expect((await request(limited.port, '/v1/quests')).status).toBe(200);
    expect((await request(limited.port, '/callback/debit', 'GET', sameClient)).status).toBe(200);
    expect((await request(limited.port, '/healthz', 'GET', sameClient)).status).toBe(200);
  });

  test('get 429 above four times the limit for the whole /48 of IPv6 addresses', async () => {
    await using limited = await startGateway({
      upstreams: upstreams(),
      connectionsPerClient: 2,
      trustedProxies: ['127.0.0.1'],
    });
    const from = (address: string) => `X-Forwarded-For: ${address}`;
    using stack = new DisposableStack();
    for (let link = 1; link <= 4; link++)
      stack.use(await open(limited.port, 2, `${from(`2001:db8:7:${link}00::1`)}\r\n`));
    const ask = (target: string, address: string) => request(limited.port, target, 'GET', [from(address)]);
    const refused = await waitFor(async () => {
      const answer = await ask('/v1/quests', '2001:db8:7:500::1');
      return answer.status === 429 ? answer : undefined;
    }, 'a refusal');
    expectTooMany(refused);
    expectTooMany(await ask('/nowhere', '2001:db8:7:600::1'));
    expect((await ask('/callback/debit', '2001:db8:7:500::1')).status).toBe(200);
    expect((await ask('/healthz', '2001:db8:7:500::1')).status).toBe(200);
    for (const address of ['2001:db8:8:100::1', '::ffff:203.0.113.1', '203.0.113.2'])
      expect((await ask('/v1/quests', address)).status).toBe(200);
  });

  test('are limited to 256: of 4,300 unfinished ones the others get 429, and a probe gets 200', async () => {
    const patient = 600_000;
    await using gateway = await startGateway({
      upstreams: upstreams(),
      timeouts: { header: patient, body: patient },
    });
    using held = await open(gateway.port, 4_300);
    await waitFor(async () => held.refused() === 4_300 - 256 || undefined, 'the refusals');
    expect((await request(gateway.port, '/healthz')).status).toBe(200);
  });
});
