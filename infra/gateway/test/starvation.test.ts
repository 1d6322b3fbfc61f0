import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitConnections, startGateway, until, freePort } from './gateway.ts';
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

/** Opens connections from one address, one with each of the beginnings, which send another byte now and then. */
const attack = async (port: number, beginnings: string[], localAddress = '127.0.0.1') => {
  const sockets = beginnings.map((bytes) => {
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

/** Beginnings of requests to one address, with every kind of unfinished body. */
const unfinished = (target: string): string[] => {
  const bodies = ['Content-Length: 1000', 'Content-Length: 900000', 'Transfer-Encoding: chunked'];
  return Array.from(
    { length: attempts },
    (_, index) => `POST ${target} HTTP/1.1\r\nHost: a\r\n${bodies[index % bodies.length]}\r\n\r\n3e8\r\n`,
  );
};

describe('unfinished requests of one client', () => {
  test('keep no more connections than its limit for 10 seconds, whatever address they are for', async () => {
    await using certificate = await createCertificate();
    const tls = { listen: `127.0.0.1:${await freePort()}`, ...certificate.files };
    const options = {
      upstreams: { 'quest-service': service.place, 'wallet-operator': service.place },
      connectionsPerClient: 10,
      timeouts: { header: patient, body: patient },
    };
    await using gateway = await startGateway({ ...options, docsDir });
    await using bare = await startGateway({ ...options, tls: { ...tls, redirectTo: 'https://a.test' } });
    const targets = [
      ['/healthz', '/', '/docs', '/docs/', '/docs/index.html', '/docs/demo', '/docs/status/quest-service'],
      ['/nowhere', '/v1/quests/../x', '/openapi/quest-service.json', '/v1/quests', '/v1/projects'],
    ].flat();
    await using stack = new AsyncDisposableStack();
    const start = performance.now();
    const attacks = await Promise.all(
      [
        ...targets.map((target) => ({ target, port: gateway.port, most: 10 })),
        { target: '/callback/debit', port: gateway.port, most: 40 },
        { target: '/v1/quests', port: bare.port, most: 10 },
      ].map(async ({ target, port, most }, index) => {
        const from = `127.0.1.${index + 1}`;
        return { target, port, most, from, ...stack.use(await attack(port, unfinished(target), from)) };
      }),
    );
    for (const { open, most, target } of attacks)
      await until(async () => open() <= most || undefined, `the end of the others at ${target}`);
    expect(performance.now() - start).toBeLessThan(10_000);
    for (const { port, from } of attacks) {
      const probe = connect({ port, host: '127.0.0.1', localAddress: from });
      probe.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(String(await once(probe, 'data'))).toContain('HTTP/1.1 200 ');
      probe.destroy();
    }
  });

  // nginx counts a request of a client once its head is complete, so only the time bounds these.
  test('whose heads do not end are gone after 5 seconds', async () => {
    await using gateway = await startGateway();
    await limitConnections(gateway, 64);
    const start = performance.now();
    const head = 'GET /v1/quests HTTP/1.1\r\nHost: a\r\nX-A: ';
    using attacker = await attack(gateway.port, Array<string>(attempts).fill(head));
    await until(async () => attacker.open() === 0 || undefined, 'the end of all');
    expect(performance.now() - start).toBeLessThan(8_000);
    expect((await request(gateway.port, '/healthz')).status).toBe(200);
  });

  test('that were refused are closed at once', async () => {
    await using gateway = await startGateway({
      upstreams: { 'quest-service': service.place },
      connectionsPerClient: 1,
      timeouts: { body: patient },
    });
    const [held = ''] = unfinished('/v1/quests');
    using _held = await attack(gateway.port, [held]);
    await until(async () => {
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
