import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, until, type Gateway } from './gateway.ts';
import { expectProblem, request, sendBytes, type Answer } from './http.ts';
import { listen, startService, type Service } from './service.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

let gateway: Gateway;
let service: Service;

beforeAll(async () => {
  service = await startService((_, response) => response.end('{}'));
  const names = ['task-manager', 'quest-service', 'store-webhooks', 'wallet-operator', 'consignments'];
  gateway = await startGateway({ upstreams: Object.fromEntries(names.map((name) => [name, service.place])) });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

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
    ['/v1/quests', 100 * KIB],
    ['/v1/quests/1/questions/2', 100 * KIB],
    ['/api/v1/hooks/order_updated/t', MIB],
    ['/callback/debit', 8 * MIB],
    ['/v1/quests/1/questions', 32 * MIB],
  ])('%s takes %i bytes and not one more', async (target, most) => {
    for (const chunked of [false, true]) {
      expect((await send(target, most, chunked)).status).toBe(200);
      expect(service.received.splice(0)[0]?.body).toHaveLength(most);
      expectProblem(await send(target, most + 1, chunked), 413, 'too_large');
      expect(service.received).toEqual([]);
    }
  });

  test.each([
    ['/api/v1/tasks', 900_000],
    ['/v1/consignments/import', 1_024 * MIB + 1],
  ])('%s refuses an announced %i bytes before they are sent', async (target, size) => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `POST ${target} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${size}\r\n\r\n`,
    );
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toContain('HTTP/1.1 413 ');
    socket.destroy();
  });

  test('a body is complete before the service hears of it', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      'POST /api/v1/hooks/order_updated/t HTTP/1.1\r\nHost: a\r\nX-Request-Id: broken-off\r\nContent-Length: 10\r\n\r\n12345',
    );
    await once(socket, 'connect');
    socket.destroy();
    expect(await gateway.entry('broken-off')).toMatchObject({ status: 400 });
    expect(service.received).toEqual([]);
  });
});

describe('an import', () => {
  const chunkOf = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  const head =
    'POST /v1/consignments/import HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-ndjson\r\n\r\n';

  /** All that comes back, as it comes. */
  const collect = (socket: Socket) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk));
    return () => text;
  };

  test('flows in both directions at once, a line answered before the next is sent', async () => {
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
      await until(async () => text().includes(`got ${line}`) || undefined, line);
    }
    socket.write('0\r\n\r\n');
    await until(async () => text().includes('done') || undefined, 'the end');
    expect(text()).toContain('HTTP/1.1 200 OK');
    socket.destroy();
  });

  test('may be larger than anything else', async () => {
    expect((await send('/v1/consignments/import', 40 * MIB, true)).status).toBe(200);
    expect(service.received.splice(0)[0]?.body).toHaveLength(40 * MIB);
  });
});

describe('slow clients', () => {
  test.each([
    ['the head', 'GET /v1/quests HTTP/1.1\r\nHost: a\r\nX-Requ'],
    ['the body', 'POST /v1/quests HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345'],
    ['a chunk', 'POST /v1/quests HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n12345'],
  ])('are cut off without an answer when %s does not come', async (_, bytes) => {
    await using hasty = await startGateway({
      upstreams: { 'quest-service': service.place },
      timeouts: { header: 100, body: 100 },
    });
    expect(await sendBytes(hasty.port, bytes)).toBe('');
    expect((await hasty.logs())['access.log']).toContain('"status":408');
    expect(service.received).toEqual([]);
  });

  test('a head that drips in has one limit for all of it', async () => {
    await using hasty = await startGateway({ timeouts: { header: 300 } });
    const socket = connect(hasty.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET /v1/quests HTTP/1.1\r\nHost: a\r\n');
    const drip = setInterval(() => socket.write('X-A: b\r\n'), 50);
    await new Promise((resolve) => void socket.once('close', resolve));
    clearInterval(drip);
    expect((await hasty.logs())['access.log']).toContain('"status":408');
  });

  test('an idle connection is closed', async () => {
    await using hasty = await startGateway({ timeouts: { keepAlive: 100 } });
    expect(await sendBytes(hasty.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')).toContain(
      'HTTP/1.1 200 OK',
    );
  });
});

describe('requests of one address', () => {
  const ask = (port: number, target: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => request(port, target)));
  const statuses = (answers: Answer[]) => new Set(answers.map(({ status }) => status));

  test('are not limited unless asked for', async () => {
    expect(statuses(await ask(gateway.port, '/v1/quests', 100))).toEqual(new Set([200]));
  });

  test('beyond the limit are 429 with Retry-After, but for webhooks and callbacks', async () => {
    const names = ['quest-service', 'store-webhooks', 'wallet-operator'];
    await using limited = await startGateway({
      upstreams: Object.fromEntries(names.map((name) => [name, service.place])),
      rateLimit: { perSecond: 1, burst: 3 },
    });
    const answers = await ask(limited.port, '/v1/quests', 20);
    expect(statuses(answers)).toEqual(new Set([200, 429]));
    for (const refused of answers.filter(({ status }) => status === 429)) {
      expectProblem(refused, 429, 'too_many_requests');
      expect(refused.headers['retry-after']).toEqual(['1']);
    }
    for (const target of ['/api/v1/hooks/order_updated/t', '/callback/debit'])
      expect(statuses(await ask(limited.port, target, 20))).toEqual(new Set([200]));
  });
});
