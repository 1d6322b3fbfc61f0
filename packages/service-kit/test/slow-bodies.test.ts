import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from '../src/http/app.ts';
import { anyone, route, type Guard } from '../src/http/route.ts';
import { allowLargeBody, allowSlowBody, createHttpServer } from '../src/http/server.ts';
import { listen } from '../src/process/service.ts';
import { serve } from '../src/testing/index.ts';
import { holdLock, startFixture, waitForLock } from './harness.ts';

/** Sends the head and half of a body, and simulates the timeout of Node. */
const sendLateBody = async (slow: boolean) => {
  const server: Server = createHttpServer((req, res: ServerResponse) => {
    req.id = 'slow';
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

test('a body that takes too long gets 408, and its connection ends', async () => {
  const answer = await sendLateBody(false);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toContain('"code":"request_timeout"');
  expect(answer).not.toContain('all there');
});

test('a complete request never gets 408, even if the next one on its connection takes too long', async () => {
  const fixture = createHttpServer((_req, res: ServerResponse) => void held.then(() => res.end('all there')));
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { port } = await listen(fixture, '127.0.0.1', 0);
  const client = connect(port, '127.0.0.1');
  const requested = once(fixture, 'request');
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next');
  const [req] = (await requested) as [{ socket: Socket }];
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  fixture.emit('clientError', late, req.socket);
  release();
  let answer = '';
  for await (const chunk of client) answer += String(chunk);
  fixture.close();
  expect(answer).not.toContain('408');
});

const large = { limit: 33_554_432, schema: z.unknown() };
const api = { title: 'Large', version: '1.0.0', description: 'Large.', tags: {}, basePath: '' };
const shared = { tag: '', summary: '', auth: anyone, responses: { 204: { description: 'Done' } } };

/** Starts a service that accepts large bodies, and waits after each one until `release`. */
const startLarge = async (variables: Record<string, string>, auth = anyone as Guard<unknown>) => {
  const stack = new AsyncDisposableStack();
  const { context, database } = stack.use(await startFixture(variables));
  const { release } = stack.use(await holdLock(database.url));
  const handle = async () => {
    await waitForLock(context.database.sql);
    return { status: 204 as const };
  };
  const routes = [
    route({ ...shared, auth, method: 'post', path: '/large', operationId: 'large', body: large }, handle),
    route({ ...shared, method: 'get', path: '/other', operationId: 'other' }, () => ({ status: 204 })),
  ];
  const { listener } = createHttpApp(context, { api, routes });
  const { url } = stack.use(await serve(listener));
  return { url, release, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

const headers = { 'Content-Type': 'application/json' };
const post = (url: string, body: string, extraHeaders: Record<string, string> = {}) =>
  fetch(`${url}/large`, { method: 'POST', headers: { ...headers, ...extraHeaders }, body });

test.each([
  ['a small body', 9],
  ['a large body that has arrived', 450_000],
])('%s keeps the deadline of its request on a route for large bodies', async (_what, length) => {
  await using service = await startLarge({ REQUEST_DEADLINE_MS: '200' });
  const answer = await post(service.url, JSON.stringify('x'.repeat(length)));
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'deadline_exceeded' }]);
});

test('the bodies of all requests use at most BODY_MEMORY_BYTES, and free it afterwards', async () => {
  await using service = await startLarge({ BODY_MEMORY_BYTES: '1000000' });
  const body = JSON.stringify('x'.repeat(450_000));
  const refused: unknown[] = [];
  const accepted: number[] = [];
  const sent = [1, 2, 3].map(async () => {
    const answer = await post(service.url, body);
    if (answer.status === 503) refused.push(await answer.json());
    else accepted.push(answer.status);
  });
  await expect.poll(() => refused).toMatchObject([{ code: 'too_busy' }, { code: 'too_busy' }]);
  expect((await fetch(`${service.url}/other`)).status).toBe(204);
  await service.release();
  await Promise.all(sent);
  expect(accepted).toEqual([204]);
  expect((await post(service.url, body)).status).toBe(204);
});

test('a caller counts as one for any notation of the credential and any other headers', async () => {
  const onlyCaller: Guard<unknown> = { ...anyone, identify: () => 'caller', keyOf: () => 'caller' };
  await using service = await startLarge({ BODY_MEMORY_BYTES: '1000000' }, onlyCaller);
  const body = JSON.stringify('x'.repeat(400_000));
  const statuses: number[] = [];
  const sent = ['Bearer x', 'bearer x', 'BEARER x'].map(async (Authorization, at) =>
    statuses.push((await post(service.url, body, { Authorization, Cookie: `other=${at}` })).status),
  );
  await expect.poll(() => statuses).toEqual([503, 503]);
  await service.release();
  await Promise.all(sent);
  expect(statuses).toEqual([503, 503, 204]);
});

test('a large body may be slow while it keeps arriving, and gets 408 when it stops', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let socket: Socket | undefined;
  const server = createHttpServer((req, res: ServerResponse) => {
    req.id = 'large';
    ({ socket } = req);
    allowLargeBody(req, { periodMs: 300, bytes: 4 });
    req.on('error', () => undefined);
    req.resume().once('end', () => res.end('all there'));
  });
  const { port } = await listen(server, '127.0.0.1', 0);
  const send = async (pieces: string[]) => {
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    const requested = once(server, 'request');
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nConnection: close\r\n\r\n');
    const answered = once(client, 'data');
    await requested;
    for (const piece of pieces) {
      client.write(piece);
      await vi.waitUntil(() => socket?.bytesRead === client.bytesWritten);
      vi.advanceTimersByTime(300);
    }
    return String((await answered)[0]);
  };
  expect(await send(['abcd', 'abcd', 'abcd'])).toContain('all there');
  expect(await send(['abcd', 'ab'])).toMatch(/^HTTP\/1\.1 408 /);
  server.close();
});

test('a body that may be slow is accepted', async () => {
  expect(await sendLateBody(true)).toContain('all there');
});

test('a slow body that stops arriving ends its connection', async () => {
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
