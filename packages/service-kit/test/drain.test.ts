import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createHttpServer } from '../src/http/server.ts';
import { drain } from '../src/overload/drain.ts';

/** Blocks the process, so that it cannot accept connections. */
const block = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end;);
};

test.each(['127.0.0.1', '0.0.0.0'])(
  'a busy process that listens on %s answers the requests of pending connections before it closes',
  async (host) => {
    const server = createServer((_req, res) => res.end('done')).listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answers = Array.from({ length: 20 }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
      return text(socket).catch(String);
    });
    const closed = drain(server, 1);
    // Node.js connects in the next tick; the drain time ends during this block.
    process.nextTick(block, 20);
    expect(await Promise.all(answers)).toEqual(answers.map(() => expect.stringContaining('200 OK')));
    await closed;
    expect(server.listening).toBe(false);
  },
);

test('a client with kept-alive connections opens no new one while the listener closes', async () => {
  const server = createServer((_req, res) => res.end('done')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const closed = drain(server, 4000);
  const connectionHeaders: (string | undefined)[] = [];
  while (server.listening) {
    const pending = request({ port, host: '127.0.0.1', agent }).end();
    const [answer] = (await once(pending, 'response')) as [IncomingMessage];
    await text(answer);
    connectionHeaders.push(answer.headers.connection);
  }
  await closed;
  agent.destroy();
  const lastKeepAlive = connectionHeaders.lastIndexOf('keep-alive');
  expect(connectionHeaders[0]).toBe('close');
  expect(lastKeepAlive).toBeGreaterThan(0);
  expect(connectionHeaders.slice(connectionHeaders.indexOf('keep-alive'), lastKeepAlive)).not.toContain(
    'close',
  );
});

test('a process that has no connections left refuses new ones for a while before it ends', async () => {
  const server = createServer((_req, res) => res.end('done')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let hasEnded = false;
  const drained = drain(server, 1500).then(() => {
    hasEnded = true;
  });
  while (server.listening) await new Promise(setImmediate);
  await once(server, 'close');
  const [error] = (await once(connect(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
  expect([error.code, hasEnded]).toEqual(['ECONNREFUSED', false]);
  await drained;
});

test('a server with the maximum number of connections can be closed', async () => {
  const server = createServer((_req, res) => res.end('done')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.maxConnections = 1;
  const only = connect(port, '127.0.0.1');
  await once(server, 'connection');
  const closed = drain(server, 1);
  only.end();
  await closed;
  expect(server.listening).toBe(false);
});

test.each(['nothing', 'half a head'])(
  'a connection that has sent %s is closed before the time limit of the shutdown',
  async (sent) => {
    const server = createHttpServer((_req, res) => res.end('done')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const silent = connect(port, '127.0.0.1');
    if (sent !== 'nothing') silent.write('GET / HTTP/1.1\r\n');
    await once(server, 'connection');
    const ended = text(silent);
    await drain(server, 1);
    expect(await ended).toContain('HTTP/1.1 408 ');
  },
);
