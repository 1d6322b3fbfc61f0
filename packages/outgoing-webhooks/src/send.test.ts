import { createOutboundThreads } from '@platform/service-kit/outbound-threads';
import { captureLog } from '@platform/service-kit/testing';
import { afterAll, expect, test } from 'vitest';
import { createSend } from './send.ts';
import { startReceiver } from './testing/receiver.ts';

const outbound = createOutboundThreads(captureLog().log);
afterAll(() => outbound[Symbol.asyncDispose]());
const send = createSend({ outbound, addresses: 'any', timeoutMs: 20_000 });
const messageTo = (url: string) => ({
  subject: 'ann',
  url,
  event: 'evt_1',
  body: '{}',
  secrets: ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
});

test('the start of an answer that refuses a message is returned, and its Retry-After', async () => {
  const { received, url } = await startReceiver((_, res) =>
    res.writeHead(500, { 'retry-after': '7' }).end('no'.repeat(1000)),
  );
  const turn = { isOver: () => false, aborted: new AbortController().signal };
  expect(await send(messageTo(url), turn)).toMatchObject({
    status: 500,
    error: 'The subscriber answered 500.',
    answer: 'no'.repeat(512),
    retryAfterMs: 7000,
  });
  expect(received.map(({ id }) => id)).toEqual(['evt_1']);
});

test('nothing is sent after the end of a turn, and a running request can be aborted', async () => {
  const arrived = Promise.withResolvers<void>();
  const { received, url } = await startReceiver(() => arrived.resolve());
  const abort = new AbortController();
  const { signal: aborted } = abort;
  expect(await send(messageTo(url), { isOver: () => true, aborted })).toBeUndefined();
  const sent = send(messageTo(url), { isOver: () => false, aborted });
  await arrived.promise;
  abort.abort();
  expect(await sent).toBeUndefined();
  expect(received).toHaveLength(1);
});
