import { startReceiver } from '@platform/outgoing-webhooks/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followedTables } from '../src/db/followed.ts';
import { startService } from './harness.ts';

interface Item {
  storeId: string;
  id?: string;
  service?: string;
  transactionId?: string;
}

interface Page {
  changes: { id: string; action: string; item?: Item }[];
  next: string;
}

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());
const { sql } = service.context.database;
const [shop, other] = await Promise.all([service.store(), service.store()]);
const [adminToken, limitedToken] = await Promise.all([
  service.tokenWith('stores:admin'),
  service.tokenWith('stores:admin', { stores: [shop.id.toUpperCase()] }),
]);

const get = (path: string, token: string) =>
  fetch(`${service.url}/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
const follow = async (list: string, query = '', token = adminToken): Promise<Page> =>
  (await (await get(`/feeds/store-webhooks/${list}${query}`, token)).json()) as Page;
/** The items of the list of all stores. */
const itemsOf = async (list: string, token = adminToken): Promise<Item[]> => {
  const page = (await (await get(`/stores/-/${list}?limit=100`, token)).json()) as Record<string, Item[]>;
  return Object.values(page).find(Array.isArray) ?? [];
};
const exportOf = async (list: string, query = '', token = adminToken): Promise<Item[]> => {
  const answer = await get(`/feeds/store-webhooks/${list}/export${query}`, token);
  const [, ...items] = (await answer.text()).trim().split('\n');
  return items.map((line) => JSON.parse(line) as Item);
};

const status = 'A';
const lists = followedTables.map(({ list }) => list);
const startCursors = new Map<string, string>();
const idIn = ({ storeId, service: provider, transactionId, id }: Item): string =>
  [storeId, ...(id === undefined ? [provider, transactionId] : [id])].join('/');

beforeAll(async () => {
  service.context.subscriptions.start();
  for (const list of lists) startCursors.set(list, (await follow(list)).next);
  for (const { id, webhookToken } of [shop, other]) {
    const send = (event: string, body: object) => service.hook(event, webhookToken, body);
    await send('order_updated', { id: 'o/1', status, consumerId: 'm-1', cart: { items: [] } });
    await send('new_member', { id: 'm-1', email: 'ann@person.example' });
    await send('job_started', { id: 'j-1', orderId: 'o/1' });
    await send('identity-verification-updated/persona', {
      service: 'persona',
      transactionId: 't/1',
      status,
      userId: 'm-1',
    });
    const payment = { service: 'threedsecureio', transactionId: 'p/1', orderId: 'o/1' };
    await service.admin('POST', `/v1/stores/${id}/payments`, payment);
  }
  await service.settled();
});

test.each(lists)('the feed and the export of %s have the items of the list of all stores', async (list) => {
  const items = await itemsOf(list);
  expect(items.length).toBeGreaterThan(1);
  const { changes } = await follow(list, `?after=${startCursors.get(list)}`);
  const sorted = (ids: string[]) => ids.toSorted();
  expect(sorted(changes.map(({ id }) => id))).toEqual(sorted(items.map((item) => idIn(item))));
  for (const { id, action, item } of changes)
    expect({ action, item }).toEqual({
      action: 'created',
      item: items.find((listed) => idIn(listed) === id),
    });
  const exported = await exportOf(list);
  expect(exported).toHaveLength(items.length);
  expect(exported).toEqual(expect.arrayContaining(items));
});

test.each(lists)(
  'a token that is limited to stores follows and exports only %s of its stores',
  async (list) => {
    const visibleItems = await itemsOf(list, limitedToken);
    for (const [query, token] of [
      ['', limitedToken],
      [`storeId=${shop.id.toUpperCase()}`, adminToken],
    ] as const) {
      const { changes } = await follow(list, `?after=${startCursors.get(list)}&${query}`, token);
      expect(changes.map(({ item }) => item)).toHaveLength(visibleItems.length);
      expect(visibleItems).toEqual(expect.arrayContaining(changes.map(({ item }) => item)));
      expect(await exportOf(list, `?${query}`, token)).toHaveLength(visibleItems.length);
    }
    const otherStore = `?storeId=${other.id}`;
    expect(await exportOf(list, otherStore, limitedToken)).toEqual([]);
    expect(
      (await follow(list, `${otherStore}&after=${startCursors.get(list)}`, limitedToken)).changes,
    ).toEqual([]);
  },
);

test('payments need the scope of their list', async () => {
  const reader = await service.tokenWith('stores:read');
  expect((await get('/feeds/store-webhooks/orders', reader)).status).toBe(200);
  for (const path of ['payments', 'payments/export'])
    expect((await get(`/feeds/store-webhooks/${path}`, reader)).status).toBe(403);
});

test('an export continues after a slice', async () => {
  await sql`insert into members (store_id, id, event_id, updated_at)
    select ${other.id}, 'many/' || n, gen_random_uuid(), now() from generate_series(1, 2500) n`;
  const items = await exportOf('members', `?storeId=${other.id}`);
  expect(new Set(items.map(({ id }) => id)).size).toBe(2501);
  expect(items).toHaveLength(2501);
});

test('a change is `updated`, and an erased person leaves only ids in the feed', async () => {
  const after = (await follow('members')).next;
  await service.hook('member_updated', shop.webhookToken, { id: 'm-1', email: 'eva@person.example', status });
  await service.settled();
  const { changes, next } = await follow('members', `?after=${after}`);
  const id = `${shop.id}/m-1`;
  expect(changes).toMatchObject([{ id, action: 'updated', item: { email: 'eva@person.example', status } }]);
  const erased = await fetch(`${service.url}/v1/stores/${shop.id}/members/m-1`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${adminToken}` },
  });
  expect(erased.status).toBe(204);
  const [deleted, ...others] = (await follow('members', `?after=${next}`)).changes;
  expect([deleted?.id, deleted?.action, deleted?.item, others]).toEqual([id, 'deleted', undefined, []]);
  // Earlier changes of the person no longer contain the item.
  const again = await follow('members', `?after=${after}&storeId=${shop.id}`);
  expect(again.changes.every(({ item }) => item === undefined)).toBe(true);
  const orders = await follow('orders', `?after=${startCursors.get('orders')}&storeId=${shop.id}`);
  expect(orders.changes.at(-1)).toMatchObject({ action: 'updated', item: { consumerId: null } });
  const log = await sql`select to_jsonb(feed_log) - 'changed_at' as row from feed_log`;
  expect(JSON.stringify(log)).not.toContain('person.example');
});

/** Subscribes `url` to lists of these stores. Returns the id of the subscription, and a token that may read its attempts. */
const subscribe = async (url: string, followed: string[], stores?: string[]) => {
  const scope = 'stores:read store-webhooks:subscriptions';
  const token = await service.tokenWith(scope, stores && { stores });
  const answer = await fetch(`${service.url}/v1/feeds/store-webhooks/subscriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, lists: followed }),
  });
  expect(answer.status).toBe(201);
  return { token, id: ((await answer.json()) as { id: string }).id };
};

test('a shop receives the changes of its own orders and jobs only', async () => {
  const { received, url } = await startReceiver();
  await subscribe(url, ['orders', 'delivery-jobs'], [shop.id]);
  for (const { webhookToken } of [other, shop]) {
    await service.hook('order_updated', webhookToken, { id: 'o/2', status, cart: { items: [] } });
    await service.hook('job_started', webhookToken, { id: 'j-2', orderId: 'o/2' });
  }
  const typesOf = (): string[] => received.map(({ event }) => event.type).toSorted();
  await expect.poll(typesOf).toEqual(['delivery_job.created', 'order.created']);
  for (const { event } of received) expect(event.data.item).toMatchObject({ storeId: shop.id });
});

test('a subscription that sends to a webhook address causes no further changes', async () => {
  // Each change is another order.
  const pos = { kind: 'generic', mapping: { order: { id: '/data/version', status: '/timestamp' } } };
  const looping = await service.store({ pos });
  const url = `${service.url}/api/v1/hooks/order_updated/${looping.webhookToken}`;
  const { id, token } = await subscribe(url, ['orders'], [looping.id]);
  await service.hook('order_updated', looping.webhookToken, { timestamp: 'now', data: { version: 1 } });
  const attempts = async () => {
    const page = await get(`/feeds/store-webhooks/subscriptions/${id}/attempts`, token);
    return ((await page.json()) as { attempts: object[] }).attempts;
  };
  await expect
    .poll(attempts)
    .toMatchObject([{ status: 403, answer: expect.stringContaining('"code":"loop_detected"') }]);
  expect(await sql`select count(*)::int from inbox where store_id = ${looping.id}`).toEqual([{ count: 1 }]);
});

test('the erasure of a person deletes the answers about records of the store, and later ones are not stored', async () => {
  // Another test has erased a person of the store.
  await sql`delete from subscription_erasures`;
  const { url } = await startReceiver(({ body }, res) => res.writeHead(500).end(body));
  const [ofStore, ofAll, ofOther] = await Promise.all([
    subscribe(url, ['members'], [shop.id]),
    subscribe(url, ['members']),
    subscribe(url, ['members'], [other.id]),
  ]);
  const answersOf = async ({ id, token }: typeof ofStore): Promise<(string | null)[]> => {
    const page = await get(`/feeds/store-webhooks/subscriptions/${id}/attempts`, token);
    const { attempts } = (await page.json()) as { attempts: { answer: string | null }[] };
    return attempts.map(({ answer }) => answer);
  };
  const email = 'grace@person.example';
  for (const { webhookToken } of [shop, other])
    await service.hook('new_member', webhookToken, { id: 'm-7', email });
  for (const subscription of [ofStore, ofAll, ofOther])
    await expect.poll(() => answersOf(subscription)).toContainEqual(expect.stringContaining(email));

  const erase = async (id: string): Promise<number> => {
    const path = `${service.url}/v1/stores/${shop.id}/members/${id}`;
    return (await fetch(path, { method: 'DELETE', headers: { authorization: `Bearer ${adminToken}` } }))
      .status;
  };
  await expect.poll(async () => (await answersOf(ofAll)).length).toBe(2);
  expect(await erase('nobody')).toBe(404);
  expect((await answersOf(ofAll)).join(' ')).toContain(shop.id);
  expect(await erase('m-7')).toBe(204);
  expect((await answersOf(ofOther)).join(' ')).toContain(email);
  expect((await answersOf(ofAll)).join(' ')).toContain(other.id);
  // The failed change is sent again after a pause, or now.
  await sql`update subscription_held set due_at = now()`;
  await sql`update subscriptions set due_at = now()`;
  await expect.poll(async () => (await answersOf(ofStore)).length).toBeGreaterThan(1);
  expect(new Set(await answersOf(ofStore))).toEqual(new Set([null]));
  expect((await answersOf(ofAll)).join(' ')).not.toContain(shop.id);
});
