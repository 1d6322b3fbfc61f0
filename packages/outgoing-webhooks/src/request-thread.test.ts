import { threadId } from 'node:worker_threads';
import { captureLog } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { createRequestThread } from './request-thread.ts';
import { startReceiver } from './testing/receiver.ts';

const options = { addresses: 'any', timeoutMs: 20_000 } as const;
const messageTo = (url: string) => ({
  subject: 'ann',
  url,
  event: 'evt_1',
  body: '{}',
  secrets: ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
});

test('a request is sent by another thread, and its outcome returned', async () => {
  await using thread = createRequestThread(options, captureLog().log);
  const { received, url } = await startReceiver((_, res) => res.writeHead(500).end(`no ${threadId}`));
  const outcome = await thread.attempt(messageTo(url), new AbortController().signal);
  expect(outcome).toMatchObject({
    status: 500,
    error: 'The subscriber answered 500.',
    answer: `no ${threadId}`,
  });
  expect(received.map(({ id }) => id)).toEqual(['evt_1']);
});

test('a request can be aborted', async () => {
  await using thread = createRequestThread(options, captureLog().log);
  const arrived = Promise.withResolvers<void>();
  const { url } = await startReceiver(() => arrived.resolve());
  const abort = new AbortController();
  const outcome = thread.attempt(messageTo(url), abort.signal);
  await arrived.promise;
  abort.abort();
  expect(await outcome).toMatchObject({ status: null, error: 'The request was interrupted.' });
});

test('if the thread ends, its requests fail and the next one starts another thread', async () => {
  await using thread = createRequestThread(options, captureLog().log);
  const arrived = Promise.withResolvers<void>();
  const { received, url } = await startReceiver((_, res) =>
    received.length === 1 ? arrived.resolve() : res.writeHead(204).end(),
  );
  const { signal } = new AbortController();
  const first = thread.attempt(messageTo(url), signal);
  await arrived.promise;
  await thread[Symbol.asyncDispose]();
  expect(await first).toMatchObject({ status: null, error: 'The request was interrupted.' });
  expect(await thread.attempt(messageTo(url), signal)).toMatchObject({ status: 204, error: null });
});
