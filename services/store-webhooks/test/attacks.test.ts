import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { taskStarted } from './fixtures/onfleet.ts';
import { declined } from './fixtures/veriff.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const { sql } = service.context.database;
const order = { id: 'o-1', status: 'PENDING', cart: { items: [] } };

/** Sends exactly these bytes over a new connection and returns all that is received until it closes. */
const sendRaw = async (text: string): Promise<string> => {
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (data) => (answer += String(data))).on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return answer;
};

const states = (id: string) =>
  sql<{ state: string; error: string | null }[]>`select state, error from inbox where store_id = ${id}`;

test.each([
  ['an encoded slash', (token: string) => `/api/v1/hooks/order_updated%2F${token}`],
  ['a dot segment', (token: string) => `/api/v1/hooks/order_updated/../order_updated/${token}`],
  ['an encoded dot segment', (token: string) => `/api/v1/hooks/job_started/%2e%2e/order_updated/${token}`],
  ['two slashes', (token: string) => `//api/v1/hooks/order_updated/${token}`],
  ['upper case', (token: string) => `/API/v1/hooks/ORDER_UPDATED/${token}`],
  ['a slash at the end', (token: string) => `/api/v1/hooks/order_updated/${token}/`],
  [
    'one letter of the token in another case',
    (token: string) => `/api/v1/hooks/order_updated/${swapCase(token)}`,
  ],
  ['an encoded token', (token: string) => `/api/v1/hooks/order_updated/%${hexOf(token)}${token.slice(1)}`],
  [
    'a line end in the service',
    (token: string) => `/api/v1/hooks/payment-auth-completed/a%0d%0aX:%20y/${token}`,
  ],
  ['the name of an object property', (token: string) => `/api/v1/hooks/constructor/${token}`],
])('a path with %s is 404, and nothing is stored', async (_name, path) => {
  const { id, webhookToken } = await service.store();
  const answer = await sendRaw(
    `POST ${path(webhookToken)} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(await states(id)).toEqual([]);
});

const swapCase = (token: string): string => {
  const at = token.search(/[a-z]/i);
  const letter = token[at] ?? '';
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return token.slice(0, at) + other + token.slice(at + 1);
};
const hexOf = (token: string): string => token.charCodeAt(0).toString(16);

test('a request with two framings is rejected, and no second request is read from its body (request smuggling)', async () => {
  const { id, webhookToken } = await service.store();
  const target = `/api/v1/hooks/order_updated/${webhookToken}`;
  const hidden = `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`;
  for (const framing of [
    `Content-Length: ${hidden.length}\r\nTransfer-Encoding: chunked`,
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Content-Length: 1\r\nContent-Length: 2',
    'Content-Length : 5',
  ]) {
    const answer = await sendRaw(
      `POST ${target} HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n0\r\n\r\n${hidden}`,
    );
    expect([framing, answer.slice(0, 12)]).toEqual([framing, 'HTTP/1.1 400']);
  }
  expect(await states(id)).toEqual([]);
});

test("a body that names another provider does not avoid the signature check of the store's provider", async () => {
  const { id, webhookToken } = await service.store({
    identity: { kind: 'persona', credentials: { webhookSecret: 's' } },
  });
  const forged = { service: 'veriff', transactionId: 't-1', status: 'APPROVED' };
  const path = 'identity-verification-completed/persona';
  await service.hook(path, webhookToken, forged);
  await service.hook(path, webhookToken, { ...declined, service: 'veriff' });
  await service.hook(path, webhookToken, { ...forged, service: 'persona' });
  await service.settled();
  expect((await states(id)).map(({ state }) => state).toSorted()).toEqual(['ignored', 'ignored', 'refused']);
  expect(await sql`select 1 from verifications where store_id = ${id}`).toEqual([]);
});

test('a signature of another body, with another secret, sent twice or empty is refused; upper-case hex is valid', async () => {
  const secret = 'ab'.repeat(16);
  const { id, webhookToken } = await service.store({
    delivery: { kind: 'onfleet', credentials: { webhookSecret: secret } },
  });
  const send = async (body: object, signature: string) => {
    await service.hook('job_started', webhookToken, body, { 'x-onfleet-signature': signature });
    await service.settled();
    const [row] = await sql`select state from inbox where store_id = ${id} order by id desc limit 1`;
    return row?.['state'] as string;
  };
  const sign = (body: object, key = secret) =>
    createHmac('sha512', Buffer.from(key, 'hex')).update(JSON.stringify(body)).digest('hex');
  const [signedBody, otherBody] = [taskStarted, { ...taskStarted, workerId: 'w-2' }];
  expect(await send(otherBody, sign(signedBody))).toBe('refused');
  expect(await send({ ...otherBody, a: 1 }, sign({ ...otherBody, a: 1 }, 'cd'.repeat(16)))).toBe('refused');
  expect(await send({ ...otherBody, a: 2 }, `${sign({ ...otherBody, a: 2 })}, ${sign(signedBody)}`)).toBe(
    'refused',
  );
  expect(await send({ ...otherBody, a: 3 }, '')).toBe('refused');
  expect(await send({ ...otherBody, a: 4 }, sign({ ...otherBody, a: 4 }).toUpperCase())).toBe('done');
});

test('an event with a number that is too large fails without a retry, and other events are processed', async () => {
  const delivery = await service.store({ delivery: { kind: 'onfleet' } });
  await service.hook('job_started', delivery.webhookToken, { ...taskStarted, time: 1e300 });
  const shop = await service.store();
  const { webhookToken } = shop;
  for (const body of [
    { ...order, id: 'big-1', modified: 1e300 },
    { ...order, id: 'big-2', modified: 2 ** 53 + 2 },
    { ...order, id: 'big-3', cart: { total: 1e308, items: [] } },
  ])
    await service.hook('order_updated', webhookToken, body);
  await service.hook(
    'order_updated',
    webhookToken,
    '{"id": "big-4", "status": "A", "cart": {"total": 1e999}}',
  );
  await service.hook('order_updated', webhookToken, order);
  await service.settled();
  expect(await sql`select state, attempts from inbox where store_id = ${delivery.id}`).toMatchObject([
    { state: 'failed', attempts: 1 },
  ]);
  expect((await states(shop.id)).map(({ state }) => state).toSorted()).toEqual([
    'done',
    'failed',
    'failed',
    'failed',
    'failed',
  ]);
});

test('a body cannot change a prototype or add a line to the log', async () => {
  const { id, webhookToken } = await service.store();
  const line = 'o-1\n{"level":"fatal","msg":"forged"}';
  const body = `{"__proto__": {"admin": true, "status": "X"}, "constructor": {"prototype": {"admin": true}},
    "id": ${JSON.stringify(line)}, "status": "A", "cart": {"items": [{"quantity": 1, "__proto__": {"price": 5}}]}}`;
  const before = service.lines.length;
  await service.hook('order_updated', webhookToken, body, { 'x-request-id': 'a"b', 'user-agent': 'x\\ny' });
  await service.settled();
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
  const shown = await service.admin('GET', `/v1/stores/${id}/orders/${encodeURIComponent(line)}`);
  expect(shown.body).toMatchObject({ id: line, status: 'A', cart: { items: [{ price: null }] } });
  for (const text of service.lines.slice(before))
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toHaveLength(1);
});
