import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { sendEvents } from './events.ts';
import type { Reader, SeenPage } from './reader.ts';

const page: SeenPage = {
  changes: [
    {
      change: {
        id: 'a',
        action: 'created',
        version: 1,
        changedAt: '2026-11-01T00:00:00.000Z',
        list: 'things',
        owner: null,
        stamp: '1',
      },
      json: JSON.stringify({ text: 'x'.repeat(100_000) }),
    },
  ],
  next: { epoch: '0198c5a0-7e57-7000-8000-000000000000', position: 1n, stamp: 1n },
  hasMore: true,
};

let reads = 0;
const reader: Reader = {
  read: () => {
    reads += 1;
    return Promise.resolve(page);
  },
  wait: () => new Promise((resolve) => setImmediate(resolve, true)),
};

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => server.close());

test('a client that reads nothing is disconnected, and pages are read only as it accepts data', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => undefined);
  const requested = once(server, 'request');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const [req, res] = (await requested) as [ServerResponse['req'], ServerResponse];
  let unsent = 0;
  const countingReader: Reader = {
    ...reader,
    wait: (ms) => {
      unsent = Math.max(unsent, res.writableLength);
      return reader.wait(ms);
    },
  };
  await sendEvents(countingReader, () => false, { req, res }, 200);
  expect(res.destroyed).toBe(true);
  expect(unsent).toBeLessThan(200_000);
  expect(reads).toBeGreaterThan(1);
  socket.destroy();
});
