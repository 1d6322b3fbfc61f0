import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitConnections, startGateway, waitFor, freePort } from './gateway.ts';
import { request } from './http.ts';
import { createCertificate } from './certificate.ts';
import { startService, type Service } from './service.ts';

const patient = 600_000;
const attempts = 100;

let service: Service;
let docsDir: string;
beforeAll(async () => {
  service = await startService();
  docsDir = await mkdtemp(join(tmpdir(), 'gateway-docs-'));
  await writeFile(join(docsDir, 'index.html'), 'portal');
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(docsDir, { recursive: true });
});

/** Opens one connection for each unfinished request, from one address. Each sends another byte every 100 ms. */
const attack = async (port: number, requests: string[], localAddress = '127.0.0.1') => {
  const sockets = requests.map((bytes) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
    socket.resume().write(bytes);
    return socket;
  });
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  const drip = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('x');
  }, 100);
  return {
    open: () => sockets.filter(({ readyState }) => readyState === 'open').length,
    [Symbol.dispose]: () => {
      clearInterval(drip);
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** Unfinished requests to one address, with every kind of unfinished body. */
const unfinished = (target: string): string[] => {
  const bodies = ['Content-Length: 1000', 'Content-Length: 900000', 'Transfer-Encoding: chunked'];
  return Array.from(
    { length: attempts },
    (_, index) => `POST ${target} HTTP/1.1\r\nHost: a\r\n${bodies[index % bodies.length]}\r\n\r\n3e8\r\n`,
  );
};

describe('unfinished requests of one client', () => {
  test('hold at most the allowed number of connections after 10 seconds, for every address', async () => {
    await using certificate = await createCertificate();
    const tls = { listen: `127.0.0.1:${await freePort()}`, ...certificate.files };
    const options = {
      upstreams: { 'quest-service': service.address, 'wallet-operator': service.address },
      connectionsPerClient: 10,
      timeouts: { header: patient, body: patient },
    };
    await using gateway = await startGateway({ ...options, docsDir });
    await using withTls = await startGateway({ ...options, tls: { ...tls, redirectTo: 'https://a.test' } });
    const targets = [
      ['/healthz', '/', '/docs', '/docs/', '/docs/index.html', '/docs/demo', '/docs/status/quest-service'],
      ['/nowhere', '/v1/quests/../x', '/openapi/quest-service.json', '/v1/quests', '/v1/projects'],
    ].flat();
    await using stack = new AsyncDisposableStack();
    const start = performance.now();
    const attacks = await Promise.all(
      [
        ...targets.map((target) => ({ target, port: gateway.port, limit: 10 })),
        { target: '/callback/debit', port: gateway.port, limit: 40 },
        { target: '/v1/quests', port: withTls.port, limit: 10 },
      ].map(async ({ target, port, limit }, index) => {
        const from = `127.0.1.${index + 1}`;
        return { target, port, limit, from, ...stack.use(await attack(port, unfinished(target), from)) };
      }),
    );
    for (const { open, limit, target } of attacks)
      await waitFor(
        async () => open() <= limit || undefined,
        `${target} to close the connections above the limit`,
      );
    expect(performance.now() - start).toBeLessThan(10_000);
    for (const { port, from } of attacks) {
      const probe = connect({ port, host: '127.0.0.1', localAddress: from });
      probe.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(String(await once(probe, 'data'))).toContain('HTTP/1.1 200 ');
      probe.destroy();
    }
  });

  // nginx counts a request only when its head is complete, so only the time limit applies to these.
  test('with an unfinished head are closed after 5 seconds', async () => {
    await using gateway = await startGateway();
    await limitConnections(gateway, 64);
    const start = performance.now();
    const head = 'GET /v1/quests HTTP/1.1\r\nHost: a\r\nX-A: ';
    using attacker = await attack(gateway.port, Array<string>(attempts).fill(head));
    await waitFor(async () => attacker.open() === 0 || undefined, 'all connections to close');
    expect(performance.now() - start).toBeLessThan(8_000);
    expect((await request(gateway.port, '/healthz')).status).toBe(200);
  });

  test('are closed at once after a refusal', async () => {
    await using gateway = await startGateway({
      upstreams: { 'quest-service': service.address },
      connectionsPerClient: 1,
      timeouts: { body: patient },
    });
    const [held = ''] = unfinished('/v1/quests');
    using _held = await attack(gateway.port, [held]);
    await waitFor(async () => {
      const { status } = await request(gateway.port, '/v1/quests');
      return status === 429 || undefined;
    }, 'the first request');
    const socket = connect(gateway.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk)).write(held);
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1.1 429 [^]*Connection: close/);
  });
});
