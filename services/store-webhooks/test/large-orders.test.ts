import { startReceiver } from '@platform/outgoing-webhooks/testing';
import { container } from '@platform/service-kit/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';

const orders = 30;
const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());
const { id: storeId, webhookToken } = await service.store();
const token = await service.tokenWith('stores:read store-webhooks:subscriptions', { stores: [storeId] });
const headers = { authorization: `Bearer ${token}` };

beforeAll(async () => {
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, { id: 'small', status: 'A', cart: { items: [] } });
  await service.settled();
  // The largest possible order in a body of 1 MiB.
  await sql`
    insert into orders
    select store_id, 'large-' || n, status, consumer_id, version, details || jsonb_build_object('items', (
      select jsonb_agg(jsonb_build_object('productId', item::text, 'productName', repeat('x', 490), 'quantity', 1,
        'price', 100, 'totalPrice', 100)) from generate_series(1, 1700) item)), uuidv7(), updated_at
    from orders, generate_series(1, ${orders}) n`;
});

test('pages, feeds and exports of the largest orders stay within the memory of the container', async () => {
  await using server = await startProcess(service, service.variables, container.nodeArguments);
  const get = (path: string) => fetch(`${server.url}/v1${path}`, { headers });
  const readPage = async (list: string, limit: number): Promise<number> => {
    const page = (await (await get(`/stores/${list}/orders?limit=${limit}`)).json()) as { orders?: object[] };
    return page.orders?.length ?? 0;
  };
  for (const list of [storeId, '-']) {
    const answer = await get(`/stores/${list}/orders?limit=200`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: { limit: [expect.stringContaining('lower')] } });
  }
  const pages = await Promise.all(Array.from({ length: 6 }, (_, at) => readPage(at % 2 ? '-' : storeId, 2)));
  expect(pages).toEqual(pages.map(() => 2));

  const exported = await (await get('/feeds/store-webhooks/orders/export')).text();
  expect(exported.trim().split('\n')).toHaveLength(orders + 2);

  const { next } = (await (await get('/feeds/store-webhooks/orders')).json()) as { next: string };
  await service.context.database.sql`update orders set status = 'B'`;
  const follow = async (): Promise<Set<string>> => {
    const seen = new Set<string>();
    for (let after = next, isMore = true; isMore;) {
      const page = (await (await get(`/feeds/store-webhooks/orders?limit=1000&after=${after}`)).json()) as {
        changes: { id: string; item: { status: string } }[];
        next: string;
        has_more: boolean;
      };
      for (const { id, item } of page.changes) if (item.status === 'B') seen.add(id);
      [after, isMore] = [page.next, page.has_more];
    }
    return seen;
  };
  expect(await follow()).toHaveProperty('size', orders + 1);
  expect(await server.peakBytes()).toBeLessThan(container.bytes);
});

test('large orders are delivered to each of many subscriptions', async () => {
  const receiver = await startReceiver();
  await using server = await startProcess(
    service,
    { ...service.variables, SUBSCRIBER_ADDRESSES: 'any' },
    container.nodeArguments,
  );
  const subscriptions = 12;
  for (let at = 0; at < subscriptions; at++) {
    const answer = await fetch(`${server.url}/v1/feeds/store-webhooks/subscriptions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ url: receiver.url, lists: ['orders'] }),
    });
    expect(answer.status).toBe(201);
  }
  await service.context.database
    .sql`update orders set status = 'C' where id like 'large-1%' or id = 'large-2'`;
  await expect.poll(() => receiver.received.length).toBe(12 * subscriptions);
  expect(await server.peakBytes()).toBeLessThan(container.bytes);
});
