import { request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { startService } from '../../test/harness.ts';

const service = await startService({ work: false });
afterAll(() => service[Symbol.asyncDispose]());

const order = { id: 'o-1', status: 'PENDING', cart: { total: 12.5, items: [] } };

const post = (url: string, body: string | Buffer | ReadableStream, type = 'application/json') =>
  fetch(url, { method: 'POST', body: body as string, headers: { 'content-type': type } });

const events = ({ id }: { id: string }) =>
  service.context.database.sql`select * from inbox where store_id = ${id} order by id`;

test('an event is stored with its raw bytes before the response {}', async () => {
  const store = await service.store();
  const { id, webhookToken } = store;
  const raw = JSON.stringify(order, null, 3);
  const answer = await post(`${service.url}/api/v1/hooks/order_updated/${webhookToken}`, raw);
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  const [row, ...more] = await events(store);
  expect(more).toEqual([]);
  expect(row).toMatchObject({ store_id: id, event: 'order_updated', entity: 'order:o-1', state: 'pending' });
  expect(row?.['body'].toString()).toBe(raw);
});

test('an unknown token is 404 before the body is read, as a problem without the token', async () => {
  const token = 'A'.repeat(43);
  const req = request(`${service.url}/api/v1/hooks/order_updated/${token}`, {
    method: 'POST',
    headers: { 'content-length': '900000' },
  });
  req.flushHeaders();
  const [status, type, body] = await new Promise<[number, string, string]>((resolve, reject) => {
    req.on('error', reject);
    req.on('response', async (res) => {
      let text = '';
      for await (const chunk of res) {
        text += String(chunk);
        if (text.endsWith('}')) break;
      }
      resolve([res.statusCode ?? 0, res.headers['content-type'] ?? '', text]);
    });
  });
  req.destroy();
  expect([status, type]).toEqual([404, 'application/problem+json']);
  expect(body).not.toContain(token);
  expect(JSON.parse(body)).toMatchObject({ status: 404, code: 'not_found', requestId: expect.any(String) });
});

test('fifty copies at once are stored once and all answered 200', async () => {
  const store = await service.store();
  const { webhookToken } = store;
  const url = `${service.url}/api/v1/hooks/order_updated/${webhookToken}`;
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(url, JSON.stringify(order))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await events(store)).toHaveLength(1);
});

test('after A, B and A, the last A is stored again, but its copies are not', async () => {
  const store = await service.store();
  const { webhookToken } = store;
  const url = `${service.url}/api/v1/hooks/order_updated/${webhookToken}`;
  const a = JSON.stringify(order);
  const b = JSON.stringify({ ...order, status: 'COMPLETED' });
  for (const body of [a, b, a, a, a]) await post(url, body);
  await Promise.all(Array.from({ length: 20 }, () => post(url, a)));
  const rows = await events(store);
  expect(rows.map(({ body }) => String(body))).toEqual([a, b, a]);
});

test('the same body for another store or another event is another event', async () => {
  const [first, second] = [await service.store(), await service.store()];
  const hook = (event: string, token: string) => `${service.url}/api/v1/hooks/${event}/${token}`;
  const member = JSON.stringify({ id: 'm-1' });
  await post(hook('new_member', first.webhookToken), member);
  await post(hook('member_updated', first.webhookToken), member);
  await post(hook('new_member', second.webhookToken), member);
  expect([...(await events(first)), ...(await events(second))]).toHaveLength(3);
});

test.each([
  ['malformed', '{"id": ', 'application/json'],
  ['empty', '', 'application/json'],
  ['deep', '['.repeat(5000) + ']'.repeat(5000), 'application/json'],
  ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'application/json'],
])('a body that is %s is stored as failed and still answered {}', async (_name, body, type) => {
  const store = await service.store();
  const { webhookToken } = store;
  const answer = await post(`${service.url}/api/v1/hooks/order_updated/${webhookToken}`, body, type);
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  const [row] = await events(store);
  expect(row).toMatchObject({ state: 'failed', error: 'The body is not readable.' });
  expect(Buffer.compare(row?.['body'] as Buffer, Buffer.from(body))).toBe(0);
});

test.each(['text/plain', 'application/xml', ''])('a body of type "%s" is parsed like JSON', async (type) => {
  const store = await service.store();
  const { webhookToken } = store;
  const answer = await post(
    `${service.url}/api/v1/hooks/order_updated/${webhookToken}`,
    JSON.stringify(order),
    type,
  );
  expect(answer.status).toBe(200);
  expect((await events(store))[0]).toMatchObject({ state: 'pending', entity: 'order:o-1' });
});

test('the payload of a form is parsed like JSON', async () => {
  const store = await service.store();
  const { webhookToken } = store;
  const form = new URLSearchParams({ payload: JSON.stringify(order) });
  await post(
    `${service.url}/api/v1/hooks/order_updated/${webhookToken}`,
    form.toString(),
    'application/x-www-form-urlencoded',
  );
  expect((await events(store))[0]).toMatchObject({ state: 'pending', entity: 'order:o-1' });
});

test('1 MiB is accepted, and one byte more returns 413, chunked or not', async () => {
  const store = await service.store();
  const { webhookToken } = store;
  const url = `${service.url}/api/v1/hooks/order_updated/${webhookToken}`;
  const fitting = `"${'x'.repeat(1_048_576 - 2)}"`;
  expect((await post(url, fitting)).status).toBe(200);
  const large = await post(url, `${fitting} `);
  expect([large.status, large.headers.get('connection')]).toEqual([413, 'keep-alive']);
  expect(await large.json()).toMatchObject({ code: 'too_large' });
  const chunks = new ReadableStream({
    start(controller) {
      for (let sent = 0; sent < 2_097_152; sent += 65_536) controller.enqueue(new Uint8Array(65_536));
      controller.close();
    },
  });
  const chunked = await fetch(url, { method: 'POST', body: chunks, duplex: 'half' });
  expect(chunked.status).toBe(413);
  expect(await events(store)).toHaveLength(1);
});

test('GET echoes ?check and is otherwise 405; an unknown event is 404', async () => {
  const store = await service.store();
  const { webhookToken } = store;
  const url = `${service.url}/api/v1/hooks/job_started/${webhookToken}`;
  expect(await (await fetch(`${url}?check=a%2Bb`)).text()).toBe('a+b');
  const plain = await fetch(url);
  expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST']);
  expect((await fetch(url, { method: 'PUT', body: '{}' })).status).toBe(405);
  expect((await post(`${service.url}/api/v1/hooks/job_lost/${webhookToken}`, '{}')).status).toBe(404);
});

test('a store with allowed addresses rejects webhooks from others', async () => {
  const here = await service.store({ allowedAddresses: ['127.0.0.0/8'] });
  const elsewhere = await service.store({ allowedAddresses: ['10.1.0.0/16'] });
  const hook = ({ webhookToken }: { webhookToken: string }) =>
    `${service.url}/api/v1/hooks/order_updated/${webhookToken}`;
  expect((await post(hook(here), JSON.stringify(order))).status).toBe(200);
  const refused = await post(hook(elsewhere), JSON.stringify(order));
  expect([refused.status, (await refused.json()) as object]).toEqual([
    403,
    expect.objectContaining({ code: 'address_not_allowed' }),
  ]);
  const forwarded = await fetch(hook(elsewhere), {
    method: 'POST',
    body: JSON.stringify(order),
    headers: { 'x-forwarded-for': '6.6.6.6, 10.1.2.3' },
  });
  expect(forwarded.status).toBe(200);
});

test.each([
  ['cloudflare; loops=1, platform', 200],
  ['platform-subscriptions', 403],
  ['cloudflare, platform-subscriptions; trace=x', 403],
])('a webhook with CDN-Loop: %s is answered %i', async (loop, status) => {
  const { webhookToken } = await service.store();
  const answer = await service.hook('order_updated', webhookToken, order, { 'cdn-loop': loop });
  expect(answer.status).toBe(status);
});

test('a store with a limit gets 429 above it, and other stores do not', async () => {
  const limited = await service.store({ requestsPerMinute: 2 });
  const free = await service.store();
  const send = ({ webhookToken }: { webhookToken: string }) =>
    post(`${service.url}/api/v1/hooks/order_updated/${webhookToken}`, JSON.stringify(order));
  const answers = [await send(limited), await send(limited), await send(limited), await send(free)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 200]);
  expect(answers[2]?.headers.get('retry-after')).toMatch(/^\d+$/);
});

test('for one token at most STORED_MB_PER_TOKEN are stored in a day; duplicates do not count, and a new token of the store works', async () => {
  await using limited = await startService({ work: false, variables: { STORED_MB_PER_TOKEN: '1' } });
  const { id, webhookToken } = await limited.store();
  const send = async (token: string, text: string) =>
    (await limited.hook('order_updated', token, { ...order, text: text.repeat(700_000) })).status;
  const statuses = [];
  for (const text of ['a', 'a', 'b', 'c']) statuses.push(await send(webhookToken, text));
  expect(statuses).toEqual([200, 200, 200, 429]);
  const refused = await limited.hook('order_updated', webhookToken, order);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000);
  const { body } = await limited.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, {});
  expect(await send(body['webhookToken'] as unknown as string, 'c')).toBe(200);
});

test('a customer who uses up the limit with the payments token blocks neither the store nor other customers', async () => {
  const store = await service.store({ requestsPerMinute: 2, payments: { kind: 'threedsecureio' } });
  const challenge = new URL(store.webhookUrls['payment-auth-completed'] ?? '').pathname;
  const statusFrom = async (address: string) => {
    const headers = { 'x-forwarded-for': address };
    const request = { method: 'POST', body: '{"service":"threedsecureio"}', headers } as const;
    return (await fetch(service.url + challenge, { ...request, redirect: 'manual' })).status;
  };
  const attacker = '2001:db8:1:1::1';
  expect([await statusFrom(attacker), await statusFrom(attacker), await statusFrom(attacker)]).toEqual([
    302, 302, 429,
  ]);
  expect(await statusFrom('2001:db8:1:2::1')).toBe(302);
  const order = await service.hook('order_updated', store.webhookToken, { id: 'o-1' });
  expect(order.status).toBe(200);
});

test('no token is in a log line', async () => {
  const store = await service.store();
  const { webhookToken } = store;
  await post(`${service.url}/api/v1/hooks/order_updated/${webhookToken}`, '{');
  await post(`${service.url}/api/v1/hooks/order_updated/${'B'.repeat(43)}`, '{');
  await fetch(`${service.url}/api/v1/hooks/nothing/${webhookToken}`);
  expect(service.lines.length).toBeGreaterThan(2);
  expect(service.lines.join('')).not.toContain(webhookToken);
  expect(service.lines.join('')).not.toContain('BBBBBBBB');
});
