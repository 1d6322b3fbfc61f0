import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { boundConnections, countUnsent } from '../src/overload/connections.ts';
import { startFixture } from './harness.ts';

/** More bytes than the socket buffers of the kernel hold. */
const large = 10_000_000;

const getLarge = (bytes = large): string =>
  `GET /v1/large?bytes=${bytes} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;

/** Sends requests and does not read the answers. */
const sendOnly = async (port: number, localAddress: string, requests: string): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(requests);
  return socket;
};

/** Reads the rest of the answers, and returns the number of bytes. */
const read = async (socket: Socket): Promise<number> => {
  let bytes = 0;
  socket.on('data', (piece: Buffer) => (bytes += piece.length)).resume();
  if (!socket.closed) await once(socket, 'close');
  return bytes;
};

const refusedOf = async (url: string): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^http_requests_refused_total (\d+)$/m.exec(metrics)?.[1]);
};

test('unread answers above ANSWER_MEMORY_BYTES close the oldest connections of the network with the most', async () => {
  await using fixture = await startFixture({ ANSWER_MEMORY_BYTES: '30000000' });
  const oldest = await sendOnly(fixture.port, '127.0.0.1', getLarge());
  const greedy: Socket[] = [];
  for (let at = 0; at < 4; at++) greedy.push(await sendOnly(fixture.port, '127.0.0.2', getLarge()));
  await expect.poll(() => refusedOf(fixture.url)).toBe(2);
  expect(await read(oldest)).toBeGreaterThan(large);
  const [first = 0, second = 0, third = 0, last = 0] = await Promise.all(greedy.map(read));
  expect(Math.max(first, second)).toBeLessThan(large);
  expect(Math.min(third, last)).toBeGreaterThan(large);
});

test('the answers to pipelined requests of one connection count together', async () => {
  await using fixture = await startFixture({ ANSWER_MEMORY_BYTES: '20000000' });
  const pipelined = getLarge(3_000_000).replace('Connection: close\r\n', '');
  const socket = await sendOnly(fixture.port, '127.0.0.2', pipelined.repeat(10));
  await expect.poll(() => refusedOf(fixture.url)).toBe(1);
  expect(await read(socket)).toBeLessThan(20_000_000);
});

test('answers that are read no longer count, even after many of them', async () => {
  await using fixture = await startFixture({ ANSWER_MEMORY_BYTES: '20000000' });
  for (let at = 0; at < 5; at++) {
    const answer = await fetch(`${fixture.url}/v1/large?bytes=10000000`);
    expect((await answer.arrayBuffer()).byteLength).toBe(10_000_000);
  }
  expect(await refusedOf(fixture.url)).toBe(0);
});

test('clients that do not read their answers do not displace others', async () => {
  await using fixture = await startFixture({ MAX_CONNECTIONS: '20', ANSWER_MEMORY_BYTES: '1000000000' });
  const requests = Array.from({ length: 18 }, (_, at) =>
    sendOnly(fixture.port, `127.0.0.${2 + (at % 3)}`, getLarge()),
  );
  const greedy = await Promise.all(requests);
  for (let at = 0; at < 5; at++) {
    const answer = await fetch(`${fixture.url}/v1/notes/none`, { headers: { Connection: 'close' } });
    expect(answer.status).toBe(404);
  }
  for (const socket of greedy) socket.destroy();
});

/** Starts a server that answers `/large` at once, and leaves other requests to the test. */
const serve = async (stalledMs: number) => {
  const waiting: ServerResponse[] = [];
  const server = createServer();
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    if (req.url === '/large') {
      res.end('x'.repeat(large));
      countUnsent(req, res, large);
    } else waiting.push(res);
  };
  const listener = boundConnections(server, answer, {
    maxConnections: 100,
    maxUnsentBytes: 10 * large,
    stalledMs,
    clientAddress: ({ socket }) => socket.remoteAddress ?? '',
    end: (socket) => socket.destroy(),
  });
  server.on('request', listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { server, port, waiting, [Symbol.dispose]: close };
};

const requestFor = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('a connection whose answer is no longer read is closed', async () => {
  using served = await serve(200);
  const accepted = once(served.server, 'connection');
  const client = await sendOnly(served.port, '127.0.0.1', requestFor('/large'));
  const [socket] = (await accepted) as [Socket];
  await once(socket, 'close');
  expect(await read(client)).toBeLessThan(large);
});

test('the request after an unsent answer has no time limit', async () => {
  using served = await serve(60_000);
  const accepted = once(served.server, 'connection');
  const client = await sendOnly(served.port, '127.0.0.1', requestFor('/large') + requestFor('/later'));
  const [socket] = (await accepted) as [Socket];
  await expect.poll(() => served.waiting.length).toBe(1);
  expect(socket.timeout).toBe(60_000);
  const answers = text(client);
  await expect.poll(() => socket.timeout).toBe(0);
  served.waiting[0]?.setHeader('Connection', 'close').end('later');
  expect((await answers).endsWith('later')).toBe(true);
});
