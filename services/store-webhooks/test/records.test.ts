import { afterAll, expect, test } from 'vitest';
import { rotateToken } from '../src/stores/rotate-token.ts';
import { changeStore } from '../src/stores/use-cases.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const send = async (method: string, path: string, headers: Record<string, string> = {}, body?: object) => {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const { status } = answer;
  return {
    status,
    etag: answer.headers.get('etag') ?? '',
    body: text === '' ? {} : (JSON.parse(text) as Body),
  };
};

interface Body {
  [name: string]: unknown;
}

const shop = { name: 'Shop', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } };
const user = { consumerUserId: 'm-1', email: 'ann@example.test' };

test('a conditional GET returns a store only after a change, and a use of a replaced token is a change', async () => {
  const { id, webhookToken } = await service.store();
  const path = `/v1/stores/${id}`;
  await service.admin('POST', `${path}/webhook-token/rotate`, { graceSeconds: 60 });
  const { etag } = await send('GET', path);
  expect(await send('GET', path, { 'if-none-match': etag })).toMatchObject({ status: 304, etag });
  await service.hook('order_updated', webhookToken, { id: 'o-1', status: 'A' });
  await service.context.replacedTokenUses.flush();
  expect((await send('GET', path, { 'if-none-match': etag })).status).toBe(200);
  // The version that If-Match compares is unchanged.
  expect((await send('PATCH', path, { 'if-match': etag }, { name: 'Renamed' })).status).toBe(200);
});

test('a change with an outdated If-Match is rejected with 412', async () => {
  const { id } = await service.store();
  const path = `/v1/stores/${id}`;
  const { etag } = await send('GET', path);
  const first = await send('PATCH', path, { 'if-match': etag }, { name: 'First' });
  expect(first.status).toBe(200);
  expect(await send('PATCH', path, { 'if-match': etag }, { name: 'Second' })).toMatchObject({
    status: 412,
    body: { code: 'stale' },
  });
  expect(await send('GET', path)).toMatchObject({ etag: first.etag, body: { name: 'First' } });
});

test.each(['application/json', 'application/merge-patch+json'])(
  'a patch that changes nothing writes nothing (%s)',
  async (type) => {
    const { id } = await service.store({ pos: { kind: 'blaze', credentials: { apiKey: 'a' } } });
    const path = `/v1/stores/${id}`;
    const before = await send('GET', path);
    const same = { name: 'Test shop', pos: { kind: 'blaze', credentials: { apiKey: 'a' } }, delivery: null };
    for (const patch of [{}, same])
      expect(await send('PATCH', path, { 'content-type': type }, patch)).toEqual({
        ...before,
        body: { ...before.body, clearedCredentials: [] },
      });
    expect((await send('GET', `${path}/changes`)).body).toMatchObject({ changes: [] });
  },
);

test('a store is created once for each Idempotency-Key; a repeated request names it and shows no token', async () => {
  const key = { 'idempotency-key': 'create a shop' };
  const first = await send('POST', '/v1/stores', key, shop);
  expect(first).toMatchObject({ status: 201, body: { webhookToken: expect.any(String) } });
  const again = await send('POST', '/v1/stores', key, shop);
  expect(again).toMatchObject({ status: 409, body: { code: 'idempotency_key_used' } });
  expect(again.body['detail']).toContain(`/v1/stores/${first.body['id'] as string}`);
  expect(JSON.stringify(again.body)).not.toContain(first.body['webhookToken']);
  expect(await send('POST', '/v1/stores', key, { ...shop, name: 'Other' })).toMatchObject({
    status: 422,
    body: { code: 'idempotency_key_reused' },
  });
  const { sql } = service.context.database;
  const storedKeys = JSON.stringify(await sql`select * from idempotency_keys`);
  expect(storedKeys).not.toContain(first.body['webhookToken']);
});

test('guesses of credentials cannot be compared with the stored hash of a request without its Idempotency-Key', async () => {
  const { sql } = service.context.database;
  await sql`delete from idempotency_keys`;
  const keys = ['first key', 'second key'];
  for (const key of keys)
    expect((await send('POST', '/v1/stores', { 'idempotency-key': key }, shop)).status).toBe(201);
  const rows = await sql<{ requestHash: string }[]>`
    select *, request_hash as "requestHash" from idempotency_keys`;
  expect(new Set(rows.map(({ requestHash }) => requestHash)).size).toBe(2);
  for (const key of keys) expect(JSON.stringify(rows)).not.toContain(key);
});

test('a token is rotated once for each Idempotency-Key', async () => {
  const { id } = await service.store();
  const path = `/v1/stores/${id}/webhook-token/rotate`;
  const key = { 'idempotency-key': 'rotate' };
  expect((await send('POST', path, key, {})).status).toBe(200);
  expect(await send('POST', path, key, {})).toMatchObject({
    status: 409,
    body: { code: 'idempotency_key_used' },
  });
  const { body } = await send('GET', `/v1/stores/${id}`);
  expect(body['webhookTokens']).toHaveLength(3);
});

test('a user is created once for each Idempotency-Key, and a repeat gets the first answer', async () => {
  const { id } = await service.store();
  const path = `/v1/stores/${id}/users`;
  const key = { 'idempotency-key': 'create a user' };
  const first = await send('POST', path, key, user);
  expect(first.status).toBe(201);
  expect(await send('POST', path, key, user)).toEqual(first);
  expect((await send('POST', path, {}, user)).status).toBe(409);
});

test('a conditional GET returns a user only after a change, and a DELETE needs its current version', async () => {
  const { id } = await service.store();
  const created = await send('POST', `/v1/stores/${id}/users`, {}, user);
  const path = `/v1/stores/${id}/users/${created.body['id'] as string}`;
  const { etag } = await send('GET', path);
  expect(etag).toBe(created.etag);
  expect((await send('GET', path, { 'if-none-match': etag })).status).toBe(304);
  expect((await send('DELETE', path, { 'if-match': '"another"' })).status).toBe(412);
  const other = await service.store();
  expect((await send('DELETE', path.replace(id, other.id))).status).toBe(404);
  expect((await send('DELETE', path, { 'if-match': etag })).status).toBe(204);
  expect((await send('DELETE', path)).status).toBe(404);
  expect((await send('GET', path)).status).toBe(404);
});

test('an order has an ETag that changes with it', async () => {
  const { id, webhookToken } = await service.store();
  const path = `/v1/stores/${id}/orders/o-1`;
  const update = async (status: string) => {
    await service.hook('order_updated', webhookToken, { id: 'o-1', status });
    await service.settled();
    return (await send('GET', path)).etag;
  };
  const first = await update('A');
  expect((await send('GET', path, { 'if-none-match': first })).status).toBe(304);
  expect(await update('B')).not.toBe(first);
});

test.each([
  [
    'stores:read',
    { stores: 200, change: 403, orders: 200, events: 403, payments: 403, user: 403, reveal: 403 },
  ],
  [
    'stores:write',
    { stores: 200, change: 403, orders: 200, events: 403, payments: 403, user: 201, reveal: 403 },
  ],
  [
    'events:read',
    { stores: 403, change: 403, orders: 403, events: 200, payments: 403, user: 403, reveal: 403 },
  ],
  [
    'events:read events:reveal',
    { stores: 403, change: 403, orders: 403, events: 200, payments: 403, user: 403, reveal: 200 },
  ],
  [
    'payments:read',
    { stores: 403, change: 403, orders: 403, events: 403, payments: 200, user: 403, reveal: 403 },
  ],
  [
    'stores:admin',
    { stores: 200, change: 200, orders: 200, events: 200, payments: 200, user: 201, reveal: 200 },
  ],
])('a token with %s has only the rights of its scopes', async (scope, expected) => {
  const { id } = await service.store();
  const path = `/v1/stores/${id}`;
  const authorization = `Bearer ${await service.tokenWith(scope)}`;
  const as = async (method: string, address: string, body?: object) =>
    (await send(method, address, { authorization }, body)).status;
  expect({
    stores: await as('GET', path),
    change: await as('PATCH', path, { name: 'Renamed' }),
    orders: await as('GET', `${path}/orders`),
    events: await as('GET', `${path}/events`),
    payments: await as('GET', `${path}/payments`),
    user: await as('POST', `${path}/users`, user),
    // A search by value reveals what the body contains.
    reveal: await as('GET', `${path}/events?value=x`),
  }).toEqual(expected);
});

test('many changes that wait for the lock of one store leave connections to other requests', async () => {
  const { id } = await service.store();
  const { context } = service;
  const [isLocked, unlock] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lock = context.database.sql.begin(async (tx) => {
    await tx`select from stores where id = ${id} for update`;
    isLocked.resolve();
    await unlock.promise;
  });
  await isLocked.promise;
  const change = { patch: { name: 'Renamed' }, expected: undefined, changedBy: 'ann' };
  const rotation = { graceSeconds: 60, for: 'events' } as const;
  const request = { owner: 'ann', key: undefined, request: undefined };
  const waiting = Array.from({ length: 20 }, () => [
    changeStore(context, id, change),
    rotateToken(context, id, rotation, request),
  ]).flat();
  expect((await send('GET', `/v1/stores/${id}`)).status).toBe(200);
  unlock.resolve();
  await Promise.all([lock, ...waiting]);
});
