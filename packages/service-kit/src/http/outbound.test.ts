import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { AnswerTooLarge, isPublicAddress, sendRequest } from './outbound.ts';

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

/** What a server is read as that answers everything with `text`. */
const readFrom = async (text: string): Promise<Buffer> => {
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
    } as const;
    const answer = await sendRequest(url, request);
    return await answer.read();
  } finally {
    server.close();
  }
};

const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n';
const chunked = (chunks: number) =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`;

test('an answer after a few informational responses is read, in as many small chunks as fit into 128 KiB', async () => {
  await expect(readFrom(hints.repeat(10) + chunked(20_000))).resolves.toHaveLength(20_000);
});

test.each([
  ['informational responses without end', hints.repeat(11) + chunked(1)],
  ['chunks of one byte without end', chunked(60_000)],
])('%s are refused', async (_, text) => {
  await expect(readFrom(text)).rejects.toThrow(AnswerTooLarge);
});

test('of the connections to many hosts that were used, 256 stay open', async () => {
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
