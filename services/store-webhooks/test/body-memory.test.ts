import { request } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { startService } from './harness.ts';

const mebibyte = 2 ** 20;

/** A service with memory for two large bodies, whose inbox stores nothing until `store` is called. */
const startHeld = async () => {
  const service = await startService({
    work: false,
    variables: { BODY_MEMORY_BYTES: String(2 * mebibyte) },
  });
  const { promise: released, resolve: store } = Promise.withResolvers<void>();
  const { inbox } = service.context;
  const accept = inbox.accept.bind(inbox);
  vi.spyOn(inbox, 'accept').mockImplementation(async (arrival) => {
    await released;
    return accept(arrival);
  });
  const { webhookToken } = await service.store();
  const url = `${service.url}/api/v1/hooks/order_updated/${webhookToken}`;
  return {
    url,
    store,
    tokens: service.context.tokens,
    reserved: () => service.context.bodyMemory.bytes,
    send: (body: string | ReadableStream) => fetch(url, { method: 'POST', body, duplex: 'half' }),
    [Symbol.asyncDispose]: service[Symbol.asyncDispose],
  };
};

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
});

const large = 'x'.repeat(mebibyte);
const chunked = () =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(10));
      controller.close();
    },
  });

test('webhooks beyond the memory for bodies get 503 and Retry-After, and are taken when others are stored', async () => {
  const held = await startHeld();
  running.push(held);
  const taken = [held.send(large), held.send(large)];
  await expect.poll(held.reserved).toBe(2 * mebibyte);
  for (const body of [large, 'x', chunked()]) {
    const refused = await held.send(body);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([
      503,
      expect.stringMatching(/^\d+$/),
    ]);
    expect(await refused.json()).toMatchObject({ code: 'too_busy' });
  }
  held.store();
  expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([200, 200]);
  expect(held.reserved()).toBe(0);
  expect((await held.send(large)).status).toBe(200);
});

test('a body without a length counts as the largest one, and one that is not completed is released', async () => {
  const held = await startHeld();
  running.push(held);
  const taken = held.send(chunked());
  await expect.poll(held.reserved).toBe(mebibyte);
  const broken = request(held.url, { method: 'POST', headers: { 'content-length': '1000' } });
  broken.on('error', () => undefined);
  broken.write('x');
  await expect.poll(held.reserved).toBe(mebibyte + 1000);
  broken.destroy();
  await expect.poll(held.reserved).toBe(mebibyte);
  held.store();
  expect((await taken).status).toBe(200);
});

test('senders that go away while their token is looked up keep no memory', async () => {
  const held = await startHeld();
  running.push(held);
  held.store();
  const { promise: lookUp, resolve: found } = Promise.withResolvers<void>();
  const recognise = held.tokens.recognise.bind(held.tokens);
  const asked = vi.spyOn(held.tokens, 'recognise').mockImplementation(async (token) => {
    await lookUp;
    return recognise(token);
  });
  const gone = [{ 'transfer-encoding': 'chunked' }, { 'content-length': '1000' }].map((headers) => {
    const sending = request(held.url, { method: 'POST', headers });
    sending.on('error', () => undefined);
    sending.write('x');
    return sending;
  });
  await expect.poll(() => asked.mock.calls.length).toBe(2);
  await Promise.all(gone.map((sending) => new Promise((resolve) => sending.destroy().on('close', resolve))));
  found();
  expect((await held.send('x')).status).toBe(200);
  await expect.poll(held.reserved).toBe(0);
});
