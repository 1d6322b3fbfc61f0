import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { threadId, type Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { captureLog } from '../testing/index.ts';
import { createOutboundThreads } from './outbound-threads.ts';

const { signal } = new AbortController();
const request = () => ({ method: 'GET', headers: {}, addresses: 'any', timeoutMs: 20_000 }) as const;

/** Starts a server and returns its address. */
const startServer = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Lists the threads that the process starts. */
const listThreads = (): Worker[] => {
  const threads: Worker[] = [];
  const add = (worker: Worker) => threads.push(worker);
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  return threads;
};

test('a request is sent by another thread, and its answer returned', async () => {
  await using outbound = createOutboundThreads(captureLog().log);
  const threads = listThreads();
  const url = await startServer((_, res) => res.writeHead(500, { 'retry-after': '7' }).end('no'));
  const answer = await outbound.send({ subject: 'ann', url }, request, signal);
  expect(answer).toEqual({ status: 500, retryAfter: '7', body: new TextEncoder().encode('no') });
  expect(threads.map((thread) => thread.threadId)).not.toContain(threadId);
  expect(threads).toHaveLength(1);
});

test.each([
  ['a success is read whole', 200, 100_000],
  ['of other answers only the start is read', 500, 16_384],
])('of the bodies that are asked for, %s', async (_, status, length) => {
  await using outbound = createOutboundThreads(captureLog().log);
  const url = await startServer((_, res) => res.writeHead(status).end('x'.repeat(100_000)));
  const answer = outbound.send({ subject: 'ann', url }, () => ({ ...request(), wholeBody: true }), signal);
  expect((await answer).body).toHaveLength(length);
});

test('a request can be aborted', async () => {
  await using outbound = createOutboundThreads(captureLog().log);
  const arrived = Promise.withResolvers<void>();
  const url = await startServer(() => arrived.resolve());
  const abort = new AbortController();
  const answer = outbound.send({ subject: 'ann', url }, request, abort.signal);
  await arrived.promise;
  abort.abort();
  await expect(answer).rejects.toThrow('The request was interrupted.');
  const late = outbound.send({ subject: 'ann', url }, request, abort.signal);
  await expect(late).rejects.toThrow('The request was interrupted.');
});

test('if the thread ends, its requests fail and the next one starts another thread; not after the end of the service', async () => {
  await using outbound = createOutboundThreads(captureLog().log);
  const threads = listThreads();
  const arrived = Promise.withResolvers<void>();
  let requests = 0;
  const url = await startServer((_, res) =>
    ++requests === 1 ? arrived.resolve() : res.writeHead(204).end(),
  );
  const first = outbound.send({ subject: 'ann', url }, request, signal);
  await arrived.promise;
  await Promise.all([expect(first).rejects.toThrow('The request was interrupted.'), threads[0]?.terminate()]);
  const send = () => outbound.send({ subject: 'ann', url }, request, signal);
  expect(await send()).toMatchObject({ status: 204 });
  await outbound[Symbol.asyncDispose]();
  await expect(send()).rejects.toThrow('The request was interrupted.');
  expect(threads).toHaveLength(2);
});

test('a subject whose answer was costly to parse is served by another thread than other subjects', async () => {
  await using outbound = createOutboundThreads(captureLog().log);
  const threads = listThreads();
  const url = await startServer((req, res) => {
    res.writeHead(200);
    if (req.headers.from === 'ann') for (let n = 0; n < 1500; n++) res.write('x');
    res.end();
  });
  const sendFor = (subject: string) =>
    outbound.send({ subject, url }, () => ({ ...request(), headers: { from: subject } }), signal);
  for (const subject of ['ben', 'ann', 'ben']) {
    expect(await sendFor(subject)).toMatchObject({ status: 200 });
    expect(threads).toHaveLength(1);
  }
  await sendFor('ann');
  expect(threads).toHaveLength(2);
  await sendFor('ben');
  expect(threads).toHaveLength(2);
});
