import { createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { startGateway, freePort, portOf } from './gateway.ts';
import { expectProblem, request } from './http.ts';
import { startService } from './service.ts';

/** Starts a service that closes the connection without a response after it has received a request. */
const startCrashing = async () => {
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk: Buffer) => {
      requests.push(chunk.toString('latin1').split(' ')[0] ?? '');
      socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: `127.0.0.1:${portOf(server)}`, requests, [Symbol.dispose]: () => void server.close() };
};

describe('connections to a service', () => {
  test('are reused for the next request', async () => {
    await using service = await startService();
    await using gateway = await startGateway({ upstreams: { 'quest-service': service.address } });
    for (let i = 0; i < 20; i += 1) await request(gateway.port, '/v1/quests');
    expect(new Set(service.received.map(({ connection }) => connection)).size).toBe(1);
    expect(service.received[0]?.headers).not.toHaveProperty('connection', 'close');
  });

  test('are reopened directly after a restart of the service', async () => {
    const port = await freePort();
    await using gateway = await startGateway({ upstreams: { 'quest-service': `127.0.0.1:${port}` } });
    for (let round = 0; round < 3; round += 1) {
      {
        await using _service = await startService(undefined, port);
        for (let i = 0; i < 5; i += 1)
          expect((await request(gateway.port, '/v1/quests', 'POST', ['Content-Length: 0'])).status).toBe(200);
      }
      for (let i = 0; i < 20; i += 1)
        expectProblem(await request(gateway.port, '/v1/quests'), 503, 'service_unavailable');
    }
  });
});

describe('an unavailable service', () => {
  test.each([
    '/api/v1/auth/login',
    '/v1/quests',
    '/api/v1/hooks/order_updated/t',
    '/callback/debit',
    '/v1/projects',
    '/v1/consignments/import',
    '/openapi/quest-service.json',
  ])('%s is 404 when the service is not deployed', async (target) => {
    await using gateway = await startGateway();
    const answer = await request(gateway.port, target, 'POST', ['Content-Length: 2'], '{}');
    expectProblem(answer, 404, 'not_found');
  });

  test('is 503 with Retry-After when it cannot be reached', async () => {
    await using gateway = await startGateway({
      upstreams: { 'quest-service': `127.0.0.1:${await freePort()}` },
    });
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await request(gateway.port, '/v1/quests', method, ['Content-Length: 2'], '{}');
      expectProblem(answer, 503, 'service_unavailable');
      expect(answer.headers['retry-after']).toEqual(['2']);
    }
  });

  test('does not affect the other services', async () => {
    await using service = await startService();
    await using gateway = await startGateway({
      upstreams: { 'quest-service': service.address, consignments: `127.0.0.1:${await freePort()}` },
    });
    expect((await request(gateway.port, '/v1/consignments')).status).toBe(503);
    expect((await request(gateway.port, '/v1/quests')).status).toBe(200);
  });
});

describe('a service that fails after it received the request', () => {
  test('is 502, and a POST is not repeated', async () => {
    using crashing = await startCrashing();
    await using gateway = await startGateway({ upstreams: { 'wallet-operator': crashing.address } });
    const answer = await request(gateway.port, '/callback/debit', 'POST', ['Content-Length: 2'], '{}');
    expectProblem(answer, 502, 'bad_gateway');
    expect(answer.headers).not.toHaveProperty('retry-after');
    expect(crashing.requests).toEqual(['POST']);
  });

  test('a POST or PATCH is sent once, a GET at most three times', async () => {
    using crashing = await startCrashing();
    using alsoCrashing = await startCrashing();
    const methodsReceived = () => [...crashing.requests.splice(0), ...alsoCrashing.requests.splice(0)];
    for (const [method, times] of [
      ['POST', 1],
      ['PATCH', 1],
      ['GET', 3],
    ] as const) {
      await using gateway = await startGateway({
        upstreams: { 'wallet-operator': [crashing.address, alsoCrashing.address] },
      });
      expectProblem(
        await request(gateway.port, '/v1/players', method, ['Content-Length: 2'], '{}'),
        502,
        'bad_gateway',
      );
      expect(methodsReceived()).toEqual(Array.from({ length: times }, () => method));
    }
  });

  test('a POST that could not be sent is sent to a running instance', async () => {
    await using service = await startService();
    await using gateway = await startGateway({
      upstreams: { 'wallet-operator': [`127.0.0.1:${await freePort()}`, service.address] },
    });
    for (let i = 0; i < 6; i += 1)
      expect(
        (await request(gateway.port, '/callback/debit', 'POST', ['Content-Length: 2'], '{}')).status,
      ).toBe(200);
    expect(service.received).toHaveLength(6);
  });

  test('is 504 when it takes too long', async () => {
    await using service = await startService(() => {});
    await using gateway = await startGateway({
      upstreams: { 'quest-service': service.address },
      timeouts: { answer: 100 },
    });
    expectProblem(
      await request(gateway.port, '/v1/quests', 'POST', ['Content-Length: 0']),
      504,
      'gateway_timeout',
    );
    expect(service.received).toHaveLength(1);
  });

  test('is 502 when its response is malformed', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nX-A: \0\r\n\r\n<html>hello</html>'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using gateway = await startGateway({
      upstreams: { 'quest-service': `127.0.0.1:${portOf(server)}` },
    });
    const answer = await request(gateway.port, '/v1/quests');
    expect(answer.body).not.toContain('<html');
    expectProblem(answer, 502, 'bad_gateway');
    server.close();
  });
});
