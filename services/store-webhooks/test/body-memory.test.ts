import { once } from 'node:events';
import { createServer, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';

const mebibyte = 2 ** 20;

/** Starts a service with memory for six large bodies of a store; its inbox stores nothing until `store` is called. */
const startWithBlockedInbox = async () => {
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
  for (const resource of running.splice(0)) await resource[Symbol.asyncDispose]();
});

const large = 'x'.repeat(900_000);
/** The largest body of a payment, in bytes. */
const maxPaymentBody = 65_536;

/** Starts uploads that declare `declared` bytes, send `sent` of them and then stop. */
const startUploads = (count: number, url: string, declared: number, sent: number): ClientRequest[] =>
  Array.from({ length: count }, () => {
    const upload = request(url, { method: 'POST', headers: { 'content-length': declared } });
    upload.on('error', () => undefined);
    upload.write('x'.repeat(sent));
    return upload;
  });

test('webhooks above the memory share of their store get 503 and Retry-After, and are accepted after others were stored', async () => {
  const blocked = await startWithBlockedInbox();
  running.push(blocked);
  // Each from another network, because the share is counted per store.
  const accepted = Array.from({ length: 6 }, (_, at) => blocked.send(large, at + 1));
  await expect.poll(blocked.reserved).toBe(6 * large.length);
  const before = blocked.reserved();
  const refused = await blocked.send(large, 7);
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'too_busy' });
  expect(blocked.reserved()).toBe(before);
  blocked.store();
  expect((await Promise.all(accepted)).map(({ status }) => status)).toEqual(accepted.map(() => 200));
  expect(blocked.reserved()).toBe(0);
  expect((await blocked.send(large)).status).toBe(200);
});

test('only received bytes count, and the bytes of an aborted body are released', async () => {
  const blocked = await startWithBlockedInbox();
  running.push(blocked);
  const [upload] = startUploads(1, blocked.url, mebibyte, 5000);
  await expect.poll(blocked.reserved).toBe(5000);
  upload?.write('x'.repeat(600));
  await expect.poll(blocked.reserved).toBe(5600);
  upload?.destroy();
  await expect.poll(blocked.reserved).toBe(0);
});

test('64 endless uploads to the payment address of one store do not block other stores', async () => {
  const blocked = await startWithBlockedInbox();
  running.push(blocked);
  blocked.store();
  for (const sent of [5000, maxPaymentBody - 1]) {
    const uploads = startUploads(64, blocked.paymentUrl, maxPaymentBody, sent);
    await vi.waitUntil(() => blocked.reserved() === 64 * sent, { timeout: 20_000 });
    expect((await blocked.sendOther()).status).toBe(200);
    for (const upload of uploads) upload.destroy();
    await expect.poll(blocked.reserved).toBe(0);
  }
});

test('senders that disconnect while their token is looked up keep no memory', async () => {
  const blocked = await startWithBlockedInbox();
  running.push(blocked);
  blocked.store();
  const { promise: lookUp, resolve: finishLookUp } = Promise.withResolvers<void>();
  const recognise = blocked.tokens.recognise.bind(blocked.tokens);
  const recogniseSpy = vi.spyOn(blocked.tokens, 'recognise').mockImplementation(async (token) => {
    await lookUp;
    return recognise(token);
  });
  const aborted = [{ 'transfer-encoding': 'chunked' }, { 'content-length': '1000' }].map((headers) => {
    const upload = request(blocked.url, { method: 'POST', headers });
    upload.on('error', () => undefined);
    upload.write('x');
    return upload;
  });
  await expect.poll(() => recogniseSpy.mock.calls.length).toBe(2);
  await Promise.all(aborted.map((upload) => new Promise((resolve) => upload.destroy().on('close', resolve))));
  finishLookUp();
  expect((await blocked.send('x')).status).toBe(200);
  await expect.poll(blocked.reserved).toBe(0);
});

const webhooks = 30;

/** Starts a point of sale that answers nothing until `release` is called. */
const startHangingPos = async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let requests = 0;
  const server = createServer((_req, res) => {
    requests++;
    void released.then(() => res.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    baseUrl: `http://127.0.0.1:${port}/`,
    requests: () => requests,
    release,
    [Symbol.dispose]: () => server.close().closeAllConnections(),
  };
};

test('webhooks with many small values that wait for a provider do not exhaust the memory', async () => {
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
  // The maximum number of values that are parsed. Each body then takes some megabytes.
  const values = Array.from({ length: 4_900 }, (_, at) => `{"k${at}":1}`).join(',');
  for (const [at, token] of tokens.entries()) {
    const body = `{"id":"o-${at}","publicKey":"k-${at}","status":"A","x":[${values}]}`;
    const answer = await fetch(`${instance.url}/api/v1/hooks/order_updated/${token}`, {
      method: 'POST',
      body,
    });
    expect(answer.status).toBe(200);
  }
  // The others wait until there is memory for them.
  await expect.poll(pos.requests).toBeGreaterThan(webhooks / 2);
  pos.release();
  await service.settled();
  expect(await service.context.database.sql`select id from orders`).toHaveLength(webhooks);
});
