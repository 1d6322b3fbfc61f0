import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { AnswerTooLarge, createPublicLookup, isPublicAddress, sendRequest } from './outbound.ts';

test('public addresses are distinguished from special-purpose ones', () => {
  expect(['8.8.8.8', '2606:4700::1111'].map((address) => isPublicAddress(address))).toEqual([true, true]);
  for (const address of [
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    'fd00::1',
    'fe80::1',
    '0.0.0.0',
    '::',
    '::127.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    'fec0::1',
  ])
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
});

/** Reads the response, or its first `start` bytes, of a server that answers every request with `text`. */
const readFrom = async (text: string, start?: number, onCostly?: () => void): Promise<Buffer> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.write(text));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const request = {
      method: 'GET',
      headers: {},
      addresses: 'any',
      signal: AbortSignal.timeout(20_000),
      ...(onCostly && { onCostly }),
    } as const;
    const answer = await sendRequest(url, request);
    return await (start === undefined ? answer.read() : answer.readStart(start));
  } finally {
    server.close();
  }
};

const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n';
const chunked = (chunks: number) =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`;

test('a response after some informational responses is read, in up to 128 KiB of small chunks', async () => {
  await expect(readFrom(hints.repeat(3) + chunked(20_000))).resolves.toHaveLength(20_000);
});

test.each([
  ['endless informational responses', hints.repeat(4) + chunked(1)],
  ['endless chunks of one byte', chunked(60_000)],
])('%s are refused', async (_, text) => {
  await expect(readFrom(text)).rejects.toThrow(AnswerTooLarge);
});

test.each([
  ['an ordinary head is not costly', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx', 0],
  [
    'one long header line is not costly',
    `HTTP/1.1 200 OK\r\na: ${'b'.repeat(8000)}\r\ncontent-length: 1\r\n\r\nx`,
    0,
  ],
  [
    'a head of many lines is costly',
    `HTTP/1.1 200 OK\r\ncontent-length: 1\r\n${'a: b\r\n'.repeat(150)}\r\nx`,
    1,
  ],
  ['many informational responses are costly', hints.repeat(4) + chunked(1), 1],
])('%s to parse', async (_, text, reports) => {
  const onCostly = vi.fn<() => void>();
  await readFrom(text, undefined, onCostly).catch(() => undefined);
  expect(onCostly).toHaveBeenCalledTimes(reports);
});

test('the start of an answer is read in small chunks, but not in thousands of them', async () => {
  await expect(readFrom(chunked(1000), 1000)).resolves.toHaveLength(1000);
  await expect(readFrom(chunked(5000), 16_384)).rejects.toThrow(AnswerTooLarge);
});

test('a change of the protocol is not accepted as a response', async () => {
  const switched = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n';
  await expect(readFrom(switched)).rejects.toThrow('The server gave no answer.');
});

test('at most 256 connections to many hosts stay open', async () => {
  const open = new Set<Socket>();
  const server = async () => {
    const listening = createServer((socket) => {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
      socket.on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    });
    await once(listening.listen(0, '127.0.0.1'), 'listening');
    return listening;
  };
  const servers = await Promise.all(Array.from({ length: 300 }, server));
  for (const listening of servers) {
    const url = new URL(`http://127.0.0.1:${(listening.address() as AddressInfo).port}`);
    const signal = AbortSignal.timeout(20_000);
    const answer = await sendRequest(url, { method: 'GET', headers: {}, addresses: 'any', signal });
    await answer.read();
  }
  await expect.poll(() => open.size).toBeLessThanOrEqual(256);
  expect(open.size).toBeGreaterThan(200);
  for (const listening of servers) listening.close();
  for (const socket of open) socket.destroy();
});

/** Starts a name server that answers IPv4 queries for `public.test` and `private.test`, and ignores other names. */
const startNameServer = async () => {
  const server = createSocket('udp4');
  const addresses = { public: [8, 8, 8, 8], private: [10, 0, 0, 1] };
  let queries = 0;
  server.on('message', (query, from) => {
    queries++;
    const name = query.subarray(13, 13 + (query[12] ?? 0)).toString();
    if (!(name in addresses)) return;
    const end = query.indexOf(0, 12) + 5;
    const isIpv4 = query.readUInt16BE(end - 4) === 1;
    const header = [0x81, 0x80, 0, 1, 0, isIpv4 ? 1 : 0, 0, 0, 0, 0];
    const answer = isIpv4 ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...addresses[name as 'public']] : [];
    const parts = [query.subarray(0, 2), Buffer.from(header), query.subarray(12, end), Buffer.from(answer)];
    server.send(Buffer.concat(parts), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const lookup = createPublicLookup([`127.0.0.1:${server.address().port}`]);
  return {
    queries: () => queries,
    addressOf: (name: string) =>
      new Promise((resolve, reject) =>
        lookup(`${name}.test`, {}, (error, address) => (error ? reject(error) : resolve(address))),
      ),
    [Symbol.dispose]: () => server.close(),
  };
};

test('a look-up is not delayed by many unanswered ones, and a name must have only public addresses', async () => {
  using names = await startNameServer();
  const silent = Array.from({ length: 50 }, (_, n) => names.addressOf(`silent${n}`).then(String, String));
  await expect.poll(names.queries).toBeGreaterThanOrEqual(100);
  const first = Promise.race([...silent, names.addressOf('public')]);
  expect(await first).toBe('8.8.8.8');
  await expect(names.addressOf('private')).rejects.toThrow('private address');
  expect(await Promise.all(silent)).toEqual(silent.map(() => expect.stringContaining('ETIMEOUT')));
});

test('localhost is not public', () => {
  const hosts = ['localhost', 'LOCALHOST.', 'a.localhost', 'localhost.example.com'];
  expect(hosts.map((host) => isPublicAddress(host, true))).toEqual([false, false, false, true]);
});
