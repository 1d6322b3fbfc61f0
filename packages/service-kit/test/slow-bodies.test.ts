import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { allowSlowBody, createHttpServer } from '../src/http/server.ts';
import { listen } from '../src/process/service.ts';

/** Sends the head and half of a body, and lets Node say that the request takes too long. */
const overtime = async (slow: boolean) => {
  const server: Server = createHttpServer((req, res: ServerResponse) => {
    if (slow) allowSlowBody(req);
    req.resume().once('end', () => res.end('all there'));
  });
  const { port } = await listen(server, '127.0.0.1', 0);
  const client = connect(port, '127.0.0.1');
  const requested = once(server, 'request');
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nab');
  const [req] = (await requested) as [{ socket: Socket }];
  server.emit(
    'clientError',
    Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
    req.socket,
  );
  if (slow) client.write('cd');
  let answer = '';
  for await (const chunk of client) answer += String(chunk);
  server.close();
  return answer;
};

test('a body that takes too long gets 408', async () => {
  expect(await overtime(false)).not.toContain('all there');
});

test('a body that may be slow is accepted', async () => {
  expect(await overtime(true)).toContain('all there');
});

test('a slow body that stops coming ends its connection', async () => {
  const server = createHttpServer((req) => {
    allowSlowBody(req, 50);
    req.on('error', () => undefined).resume();
  });
  const { port } = await listen(server, '127.0.0.1', 0);
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab');
  await once(client, 'close');
  expect(client.bytesRead).toBe(0);
  server.close();
});
