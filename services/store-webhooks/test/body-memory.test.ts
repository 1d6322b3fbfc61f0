import { once } from 'node:events';
import { createServer, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';

const mebibyte = 2 ** 20;

/** A service with memory for six large bodies of a store, whose inbox stores nothing until `store` is called. */
const startHeld = async () => {
  const service = await startService({
    work: false,
    variables: { BODY_MEMORY_BYTES: String(8 * mebibyte) },
  });
  const { promise: released, resolve: store } = Promise.withResolvers<void>();
  const { inbox } = service.context;
  const storeEvent = inbox.storeEvent.bind(inbox);
  vi.spyOn(inbox, 'storeEvent').mockImplementation(async (event) => {
    await released;
    return storeEvent(event);
  });
  const { webhookToken, webhookUrls } = await service.store({ payments: { kind: 'threedsecureio' } });
  const other = await service.store();
  const url = `${service.url}/api/v1/hooks/order_updated/${webhookToken}`;
  return {
    url,
    paymentUrl: service.url + new URL(webhookUrls['payment-auth-completed'] ?? '').pathname,
    sendOther: () => service.hook('order_updated', other.webhookToken, {}),
    store,
    tokens: service.context.tokens,
    reserved: () => service.context.bodyBudget.bytes,
    /** Sends a body from a network (an address of this machine). */
    send: async (body: string, network = 1) => {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const localAddress = `127.0.0.${network}`;
        request(url, { method: 'POST', localAddress }, resolve).on('error', reject).end(body);
      });
      return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
    },
    [Symbol.asyncDispose]: () => {
      store();
      return service[Symbol.asyncDispose]();
    },
  };
};

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
});

const large = 'x'.repeat(900_000);
/** The largest body of a payment, in bytes. */
const largestOfPayment = 65_536;

/** Begins uploads that declare `declared` bytes, send `sent` of them and then nothing more. */
const beginUploads = (count: number, url: string, declared: number, sent: number): ClientRequest[] =>
  Array.from({ length: count }, () => {
    const upload = request(url, { method: 'POST', headers: { 'content-length': declared } });
    upload.on('error', () => undefined);
    upload.write('x'.repeat(sent));
    return upload;
  });

test('webhooks beyond the share of their store get 503 and Retry-After, and are taken when others are stored', async () => {
  const held = await startHeld();
  running.push(held);
  // Each from another network: it is the store that has its share.
  const taken = Array.from({ length: 6 }, (_, at) => held.send(large, at + 1));
  await expect.poll(held.reserved).toBe(6 * large.length);
  const before = held.reserved();
  const refused = await held.send(large, 7);
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'too_busy' });
  expect(held.reserved()).toBe(before);
  held.store();
  expect((await Promise.all(taken)).map(({ status }) => status)).toEqual(taken.map(() => 200));
  expect(held.reserved()).toBe(0);
  expect((await held.send(large)).status).toBe(200);
});

test('only the bytes that have arrived count, and those of a body that is not completed are released', async () => {
  const held = await startHeld();
  running.push(held);
  const [upload] = beginUploads(1, held.url, mebibyte, 5000);
  await expect.poll(held.reserved).toBe(5000);
  upload?.write('x'.repeat(600));
  await expect.poll(held.reserved).toBe(5600);
  upload?.destroy();
  await expect.poll(held.reserved).toBe(0);
});

test("64 uploads to one store's payment address that do not end leave the other stores served", async () => {
  const held = await startHeld();
  running.push(held);
  held.store();
  for (const sent of [5000, largestOfPayment - 1]) {
    const uploads = beginUploads(64, held.paymentUrl, largestOfPayment, sent);
    await vi.waitUntil(() => held.reserved() === 64 * sent, { timeout: 20_000 });
    expect((await held.sendOther()).status).toBe(200);
    for (const upload of uploads) upload.destroy();
    await expect.poll(held.reserved).toBe(0);
  }
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

const webhooks = 30;

/** A point of sale that answers nothing before it is released. */
const startHangingPos = async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let asked = 0;
  const server = createServer((_req, res) => {
    asked++;
    void released.then(() => res.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    baseUrl: `http://127.0.0.1:${port}/`,
    asked: () => asked,
    release,
    [Symbol.dispose]: () => server.close().closeAllConnections(),
  };
};

test('webhooks of many small values that wait for a provider do not fill the memory', async () => {
  await using service = await startService({ work: false });
  using pos = await startHangingPos();
  const tokens = await Promise.all(
    Array.from({ length: webhooks }, async (_, at) => {
      const credentials = { apiKey: `key-${at}` };
      return (await service.store({ pos: { kind: 'blaze', baseUrl: pos.baseUrl, credentials } }))
        .webhookToken;
    }),
  );
  const variables = { DATABASE_URL: service.databaseUrl, PROVIDER_TIMEOUT_MS: '600000' };
  await using instance = await startProcess(service, variables, ['--max-old-space-size=112']);
  // As many as are parsed. Each takes some megabytes then.
  const values = Array.from({ length: 4_900 }, (_, at) => `{"k${at}":1}`).join(',');
  for (const [at, token] of tokens.entries()) {
    const body = `{"id":"o-${at}","publicKey":"k-${at}","status":"A","x":[${values}]}`;
    const answer = await fetch(`${instance.url}/api/v1/hooks/order_updated/${token}`, {
      method: 'POST',
      body,
    });
    expect(answer.status).toBe(200);
  }
  await expect.poll(pos.asked).toBe(webhooks);
  pos.release();
  await service.settled();
  expect(await service.context.database.sql`select id from orders`).toHaveLength(webhooks);
});
