import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Json } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const [shop, other] = await Promise.all([service.store(), service.store({ name: 'Other shop' })]);
const limitedTo = (ids: string[], scope = 'stores:admin') => service.tokenWith(scope, { stores: ids });
const token = await limitedTo([shop.id.toUpperCase()]);

const ask = async (method: string, path: string, body?: unknown, as = token) => {
  const answer = await fetch(service.url + path, {
    method,
    headers: {
      authorization: `Bearer ${as}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Json };
};

beforeAll(async () => {
  for (const { id, webhookToken } of [shop, other]) {
    await service.hook('order_updated', webhookToken, { id: 'o-1', status: 'A', cart: { items: [] } });
    await service.hook('new_member', webhookToken, { id: 'm-1' });
    await service.hook('job_started', webhookToken, { id: 'j-1', orderId: 'o-1' });
    await service.settled();
    await service.admin('POST', `/v1/stores/${id}/users`, {
      consumerUserId: 'm-1',
      email: 'ann@example.test',
    });
  }
});

interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, { example?: unknown }> };
}

/** Bodies of the operations whose document has no example. */
const bodies: Record<string, unknown> = {
  changeStore: { name: 'Mine now' },
  rotateWebhookToken: { graceSeconds: 0 },
  createPayment: { service: 'threedsecureio', transactionId: 't-1', orderId: 'o-1' },
};
const parameters: Record<string, string> = {
  orderId: 'o-1',
  memberId: 'm-1',
  jobId: 'j-1',
  service: 'threedsecureio',
};

test('a token that is limited to stores reaches no other store with any operation', async () => {
  const { body: document } = await ask('GET', '/openapi.json');
  const operations = Object.entries(document['paths'] ?? {})
    .filter(([path]) => path.startsWith('/v1/stores/{storeId}'))
    .flatMap(([path, methods]) =>
      Object.entries(methods as unknown as Record<string, Operation>).map(
        ([method, operation]) => [path, method, operation] as const,
      ),
    );
  expect(operations.length).toBeGreaterThan(25);
  const before = await service.admin('GET', `/v1/stores/${other.id}`);
  for (const [path, method, { operationId, requestBody }] of operations) {
    const example = Object.values(requestBody?.content ?? {})[0]?.example;
    const address = path
      .replace('{id}', other.id)
      .replace(/\{(\w+)\}/g, (_all, name: string) => parameters[name] ?? crypto.randomUUID());
    const { status, body } = await ask(
      method.toUpperCase(),
      address,
      requestBody && (bodies[operationId] ?? example),
    );
    expect([operationId, status, body['detail']]).toEqual([operationId, 404, 'There is no such store.']);
  }
  expect(await service.admin('GET', `/v1/stores/${other.id}`)).toEqual(before);
});

test('a limited token reads and changes its own store, also by an id in upper case', async () => {
  for (const id of [shop.id, shop.id.toUpperCase()])
    expect((await ask('GET', `/v1/stores/${id}/orders/o-1`)).status).toBe(200);
  expect((await ask('PATCH', `/v1/stores/${shop.id}`, { name: 'Renamed' })).body['name']).toBe('Renamed');
});

test.each(['orders', 'members', 'users', 'delivery-jobs', 'events', 'notifications', 'changes'])(
  'the list of all stores has only %s of its own store, on every page',
  async (name) => {
    const { status, body } = await ask('GET', `/v1/stores/-/${name}?limit=50`);
    const items = Object.values(body).find(Array.isArray) as unknown as Json[];
    expect([status, new Set(items.map(({ storeId }) => storeId))]).toEqual([200, new Set([shop.id])]);
    const nextPage = await ask('GET', `/v1/stores/-/${name}?limit=50&page=2`);
    expect(Object.values(nextPage.body).find(Array.isArray)).toEqual([]);
  },
);

test('the list of stores has only its own stores, and none for an empty limit', async () => {
  const listed = async (ids: string[]) => {
    const { body } = await ask('GET', '/v1/stores', undefined, await limitedTo(ids));
    return (body['stores'] as unknown as Json[]).map(({ id }) => id);
  };
  expect(await listed([shop.id, crypto.randomUUID()])).toEqual([shop.id]);
  expect(await listed([])).toEqual([]);
  const orders = await ask('GET', '/v1/stores/-/orders', undefined, await limitedTo([]));
  expect(orders.body['orders']).toEqual([]);
});

test('a limited token cannot create a store, and its scopes still apply', async () => {
  const input = { name: 'Third', storeUrl: 'https://third.example.test/', pos: { kind: 'blaze' } };
  expect(await ask('POST', '/v1/stores', input)).toMatchObject({
    status: 403,
    body: { code: 'limited_to_stores' },
  });
  const reader = await limitedTo([shop.id], 'stores:read');
  expect((await ask('PATCH', `/v1/stores/${shop.id}`, { name: 'x' }, reader)).status).toBe(403);
  expect((await ask('GET', `/v1/stores/${shop.id}/events`, undefined, reader)).status).toBe(403);
});

test('a search for a value without events:reveal is refused before it reads anything', async () => {
  const { sql } = service.context.database;
  const reader = await limitedTo([shop.id], 'events:read');
  await sql.begin(async (tx) => {
    await tx`lock table events in access exclusive mode`;
    const refused = await ask('GET', `/v1/stores/${shop.id}/events?value=secret`, undefined, reader);
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
  });
});

test('a token whose claim is not a list of ids is rejected', async () => {
  for (const stores of [shop.id, [shop.id, '-'], ["') or true --"], ['\0'], null, {}]) {
    const refused = await service.tokenWith('stores:admin', { stores });
    expect((await ask('GET', '/v1/stores', undefined, refused)).status).toBe(401);
  }
});
