import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitConnections, startGateway, waitFor, type Gateway } from './gateway.ts';
import { expectProblem, request, sendBytes } from './http.ts';
import { listen, startService, type Service } from './service.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

let gateway: Gateway;
let service: Service;

beforeAll(async () => {
  service = await startService((_, response) => response.end('{}'));
  const names = ['task-manager', 'quest-service', 'store-webhooks', 'wallet-operator', 'consignments'];
  gateway = await startGateway({
    upstreams: Object.fromEntries(names.map((name) => [name, service.address])),
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

/** Total size of all files below a folder. */
const bytesBelow = async (folder: string): Promise<number> => {
  const files = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
};

const send = (target: string, size: number, chunked = false) => {
  const body = 'x'.repeat(size);
  return chunked
    ? request(
        gateway.port,
        target,
        'POST',
        ['Transfer-Encoding: chunked'],
        `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      )
    : request(gateway.port, target, 'POST', [`Content-Length: ${size}`], body);
};

describe('bodies', () => {
  test.each([
    ['/api/v1/tasks', 100 * KIB],
    ['/api/v1/tasks/batch', 2 * MIB],
    ['/v1/quests', 100 * KIB],
    ['/v1/quests/1/questions/2', 100 * KIB],
    ['/api/v1/hooks/order_updated/t', MIB],
    ['/callback/debit', 8 * MIB],
    ['/v1/quests/1/questions', 32 * MIB],
    ['/v1/quests/1/export', 2 * MIB],
  ])('%s accepts %i bytes and rejects one more', async (target, limit) => {
    for (const chunked of [false, true]) {
      expect((await send(target, limit, chunked)).status).toBe(200);
      expect(service.received.splice(0)[0]?.body).toHaveLength(limit);
      expectProblem(await send(target, limit + 1, chunked), 413, 'too_large');
      expect(service.received).toEqual([]);
    }
  });

  test.each([
    ['/api/v1/tasks', 900_000],
    ['/v1/consignments/import', 1_024 * MIB + 1],
  ])('%s rejects an announced body of %i bytes before it is sent', async (target, size) => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `POST ${target} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${size}\r\n\r\n`,
    );
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toContain('HTTP/1.1 413 ');
    socket.destroy();
  });

  test('if the sender disconnects, the service receives an incomplete request', async () => {
    let bytes = 0;
    let aborted = false;
    await using receiver = await listen((incoming) => {
      incoming.on('error', () => (aborted = true)).on('data', (chunk: Buffer) => (bytes += chunk.length));
    });
    await using streaming = await startGateway({
      upstreams: { 'store-webhooks': `127.0.0.1:${receiver.port}` },
    });
    const socket = connect(streaming.port, '127.0.0.1');
    socket.write('POST /api/v1/hooks/order_updated/t HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345');
    await waitFor(async () => bytes === 5 || undefined, 'the first half');
    socket.destroy();
    await waitFor(async () => aborted || undefined, 'the end of the request at the service');
    expect(bytes).toBe(5);
  });

  test('a service can reject a request before its body has arrived, and the gateway does not store the body', async () => {
    await using strict = await listen((_, response) => void response.writeHead(401).end());
    await using streaming = await startGateway({
      upstreams: { 'quest-service': `127.0.0.1:${strict.port}` },
    });
    const sockets = Array.from({ length: 8 }, () => {
      const socket = connect(streaming.port, '127.0.0.1').on('error', () => {});
      socket.write(`PUT /v1/quests/1/questions HTTP/1.1\r\nHost: a\r\nContent-Length: ${32 * MIB}\r\n\r\n`);
      return socket;
    });
    const answers = await Promise.all(
      sockets.map(async (socket) => String(((await once(socket, 'data')) as [Buffer])[0])),
    );
    for (const answer of answers) expect(answer).toContain('HTTP/1.1 401 ');
    for (const socket of sockets) socket.write(Buffer.alloc(31 * MIB));
    await waitFor(async () => (sockets.every(({ destroyed }) => destroyed) ? true : undefined), 'the end');
    expect(await bytesBelow(streaming.runDir)).toBeLessThan(200 * KIB);
  });

  test('a response that the client reads slowly is not written to a file', async () => {
    const size = 20 * MIB;
    await using large = await listen((_, response) => void response.end(Buffer.alloc(size)));
    await using streaming = await startGateway({ upstreams: { 'quest-service': `127.0.0.1:${large.port}` } });
    const socket = connect(streaming.port, '127.0.0.1');
    socket.write('GET /v1/quests HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await once(socket, 'readable');
    expect(await bytesBelow(streaming.runDir)).toBeLessThan(200 * KIB);
    let bytes = 0;
    for await (const chunk of socket) bytes += (chunk as Buffer).length;
    expect(bytes).toBeGreaterThan(size);
  });
});

describe('an import', () => {
  const chunkOf = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  const head =
    'POST /v1/consignments/import HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-ndjson\r\n\r\n';

  /** Returns a function that returns the text received until now. */
  const collect = (socket: Socket) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk));
    return () => text;
  };

  test('streams in both directions: the result of a line arrives before the next line is sent', async () => {
    await using echo = await listen((incoming, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
      incoming.on('data', (chunk: Buffer) => response.write(`got ${chunk.toString()}`));
      incoming.on('end', () => response.end('done'));
    });
    await using importing = await startGateway({ upstreams: { consignments: `127.0.0.1:${echo.port}` } });
    const socket = connect(importing.port, '127.0.0.1');
    const text = collect(socket);
    socket.write(head);
    for (const line of ['first\n', 'second\n', 'third\n']) {
      socket.write(chunkOf(line));
      await waitFor(async () => text().includes(`got ${line}`) || undefined, line);
    }
    socket.write('0\r\n\r\n');
    await waitFor(async () => text().includes('done') || undefined, 'the end');
    expect(text()).toContain('HTTP/1.1 200 OK');
    socket.destroy();
  });

  test('may be larger than other bodies', async () => {
    expect((await send('/v1/consignments/import', 40 * MIB, true)).status).toBe(200);
    expect(service.received.splice(0)[0]?.body).toHaveLength(40 * MIB);
  });
});

describe('slow clients', () => {
  test.each([
    ['the head', 'GET /v1/quests HTTP/1.1\r\nHost: a\r\nX-Requ'],
    ['the body', 'POST /v1/quests HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345'],
    ['a chunk', 'POST /v1/quests HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n12345'],
  ])('are disconnected without a response if %s is not completed', async (_, bytes) => {
    await using impatient = await startGateway({
      upstreams: { 'quest-service': service.address },
      timeouts: { header: 100, body: 100 },
    });
    expect(await sendBytes(impatient.port, bytes)).toBe('');
    expect((await impatient.logs())['access.log']).toContain('"status":408');
    expect(service.received).toEqual([]);
  });

  test('the time limit applies to the whole head of a request', async () => {
    await using impatient = await startGateway({ timeouts: { header: 300 } });
    const socket = connect(impatient.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET /v1/quests HTTP/1.1\r\nHost: a\r\n');
    const drip = setInterval(() => socket.write('X-A: b\r\n'), 50);
    await new Promise((resolve) => void socket.once('close', resolve));
    clearInterval(drip);
    expect((await impatient.logs())['access.log']).toContain('"status":408');
  });

  test('an idle connection is closed', async () => {
    await using impatient = await startGateway({ timeouts: { keepAlive: 100 } });
    expect(await sendBytes(impatient.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')).toContain(
      'HTTP/1.1 200 OK',
    );
  });

  test('idle connections of one client do not block others: nginx closes the oldest ones when it has no more', async () => {
    await using small = await startGateway({ timeouts: { header: 600_000 } });
    await limitConnections(small, 64);

    const idle: Socket[] = [];
    const closed: number[] = [];
    while (closed.length < 10 && idle.length < 200) {
      const socket = connect(small.port, '127.0.0.1');
      const index = idle.push(socket) - 1;
      socket.on('error', () => {}).on('close', () => closed.push(index));
      await once(socket, 'connect');
      // The response arrives after nginx has accepted this connection and closed others for it.
      await request(small.port, '/healthz');
    }
    expect(closed.length).toBeGreaterThanOrEqual(10);
    expect(Math.max(...closed)).toBeLessThan(32);
    expect((await request(small.port, '/healthz')).status).toBe(200);
    for (const socket of idle) socket.destroy();
  });
});
