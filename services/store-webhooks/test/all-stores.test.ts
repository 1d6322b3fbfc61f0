import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

type Item = Record<string, unknown>;

/** Reads the items of a list; of all stores by default. */
const list = async (name: string, query: Record<string, string> = {}, store = '-'): Promise<Item[]> => {
  const search = new URLSearchParams(query).toString();
  const { status, body } = await service.admin('GET', `/v1/stores/${store}/${name}?${search}`);
  expect([name, query, status]).toEqual([name, query, 200]);
  const [items] = Object.values(body).filter(Array.isArray) as unknown as Item[][];
  return items ?? [];
};

const requestId = 'request-of-the-order';
const stores = await Promise.all([service.store(), service.store()]);
const [first, other] = stores;

beforeAll(async () => {
  const order = (id: string) => ({ id, orderNo: `No. ${id}`, status: 'A', cart: { items: [] } });
  for (const { id, webhookToken } of stores) {
    const suffix = id === first.id ? 'one' : 'other';
    await service.hook('order_updated', webhookToken, order(suffix), {
      'x-request-id': `${requestId}-${suffix}`,
    });
    await service.hook('order_updated', webhookToken, order('both'));
    await service.hook('new_member', webhookToken, { id: 'm-1', email: 'ann@example.test' });
    await service.hook('job_started', webhookToken, { id: 'j-1', orderId: suffix });
    await service.hook('identity-verification-updated/persona', webhookToken, {
      service: 'persona',
      transactionId: 't-1',
      status: 'CREATED',
    });
    await service.settled();
    const payment = { service: 'threedsecureio', transactionId: `p-${suffix}`, orderId: suffix };
    await service.admin('POST', `/v1/stores/${id}/payments`, payment);
    const user = { consumerUserId: 'm-1', email: 'ann@example.test' };
    await service.admin('POST', `/v1/stores/${id}/users`, user);
  }
});

test.each([
  ['orders', { id: 'other' }, { id: 'other', orderNo: 'No. other' }],
  ['orders', { orderNo: 'No. other' }, { id: 'other' }],
  ['delivery-jobs', { orderId: 'other' }, { id: 'j-1', orderId: 'other' }],
  ['payments', { transactionId: 'p-other' }, { service: 'threedsecureio', orderId: 'other' }],
  ['payments', { orderId: 'other' }, { transactionId: 'p-other' }],
  ['notifications', { reference: 'other' }, { kind: 'order' }],
  ['events', { requestId: `${requestId}-other` }, { entity: 'order:other' }],
  ['events', { entity: 'other' }, { entity: 'order:other' }],
])('the %s of all stores filtered by %j have only the match of one store', async (name, query, expected) => {
  const items = await list(name, query);
  expect(items).toEqual([expect.objectContaining({ storeId: other.id, ...expected })]);
  const [{ storeId: _storeId, ...item } = {}] = items;
  expect(await list(name, query, other.id)).toEqual([item]);
  expect(await list(name, query, first.id)).toEqual([]);
});

test.each([
  ['orders', { id: 'both' }],
  ['members', { id: 'm-1' }],
  ['users', { consumerUserId: 'm-1' }],
  ['delivery-jobs', { id: 'j-1' }],
  ['verifications', { transactionId: 't-1' }],
])('records of two stores are found in both: %s filtered by %j', async (name, query) => {
  const items = await list(name, query);
  expect(new Set(items.map(({ storeId }) => storeId))).toEqual(new Set([first.id, other.id]));
});

test('an event is found by its id alone', async () => {
  const [event] = await list('events', { entity: 'other' });
  const id = String(event?.['id']);
  expect(await list('events', { id })).toEqual([event]);
  expect(await list('events', { id: other.id })).toEqual([]);
});

test('pages of all stores are in the order of receipt and contain every event once', async () => {
  const pages = [];
  for (let page = 1; page <= 4; page++)
    pages.push(...(await list('events', { page: String(page), limit: '3' })).map(({ id }) => String(id)));
  const all = (await list('events', { limit: '200' })).map(({ id }) => String(id));
  expect(all).toHaveLength(10);
  expect(all).toEqual(all.toSorted().toReversed());
  expect(pages).toEqual(all);
});

test('a list of all stores ends after 10,000 items, and that of one store does not', async () => {
  const page = (store: string, number: number) =>
    service.admin('GET', `/v1/stores/${store}/events?page=${number}&limit=50`);
  expect((await page('-', 201)).status).toBe(200);
  const tooFar = await page('-', 202);
  expect([tooFar.status, tooFar.body['errors']]).toEqual([
    400,
    { page: ['must be at most 201 with limit 50 in a list of all stores'] },
  ]);
  expect((await page(first.id, 202)).status).toBe(200);
});

test('an unknown store and an invalid store id are rejected', async () => {
  const missing = await service.admin('GET', '/v1/stores/01980000-0000-7000-8000-000000000000/orders');
  expect(missing.status).toBe(404);
  const invalid = await service.admin('GET', '/v1/stores/all/orders');
  expect([invalid.status, invalid.body['errors']]).toEqual([
    400,
    { storeId: ['must be a UUID, or - for all stores'] },
  ]);
  // A single record belongs to one store.
  expect((await service.admin('GET', '/v1/stores/-/orders/both')).status).toBe(400);
});

test('the lists of all stores need the scope stores:admin', async () => {
  for (const scope of ['', 'stores:read', 'ops:read wallet:admin']) {
    const headers = { authorization: `Bearer ${await service.tokenWith(scope)}` };
    expect((await fetch(`${service.url}/v1/stores/-/events`, { headers })).status).toBe(403);
  }
});
