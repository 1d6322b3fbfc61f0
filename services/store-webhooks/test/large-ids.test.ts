import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { ReceivedEvent } from '../src/inbox/event.ts';
import { storeEvents } from '../src/inbox/insert-events.ts';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { startService } from './harness.ts';
import { startStandIn } from './simulate/stand-in.ts';

const standIn = await startStandIn();
const service = await startService();
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

const get = async (path: string) => (await service.admin('GET', `/v1/stores/${path}`)).body;

/** Doubles of this size are 128 apart: as a number it would become 820982911946154500. */
const large = '820982911946154508';

test('the sample order of Shopify is stored with its exact ids', async () => {
  const { id, webhookToken } = await service.store({
    pos: {
      kind: 'generic',
      mapping: {
        order: {
          orderNo: '/order_number',
          status: '/financial_status',
          consumerId: '/customer/id',
          total: '/total_price',
          currency: '/currency',
          version: '/updated_at',
          items: '/line_items',
        },
        item: { productId: '/product_id', productName: '/title', quantity: '/quantity', price: '/price' },
      },
    },
  });
  // https://shopify.dev/docs/api/webhooks: the sample of orders/create, shortened
  const order = `{ "id": ${large}, "admin_graphql_api_id": "gid://shopify/Order/${large}", "currency": "USD",
    "email": "jon@example.com", "financial_status": "voided", "name": "#9999", "order_number": 1234,
    "total_price": "388.00", "updated_at": "2021-12-31T19:00:00-05:00", "customer": { "id": 115310627314723954 },
    "line_items": [{ "id": 866550311766439020, "product_id": 788032119674292922, "title": "IPod Nano - 8GB",
      "quantity": 1, "price": "199.00" }] }`;
  await service.hook('order_updated', webhookToken, order);
  await service.settled();
  expect(await get(`${id}/orders/${large}`)).toMatchObject({
    id: large,
    orderNo: '1234',
    status: 'voided',
    consumerId: '115310627314723954',
    cart: { total: 388, items: [{ productId: '788032119674292922', quantity: 1, price: 199 }] },
  });
  const [event] = (await get(`${id}/events?entity=${large}`))['events'] as unknown as { id: string }[];
  expect((await get(`${id}/events/${event?.id}`))['body']).toMatchObject({ id: large });
  // Another order, whose id is the same number as a double.
  await service.hook('order_updated', webhookToken, order.replace(large, '820982911946154500'));
  await service.settled();
  expect(await get(`${id}/orders`)).toMatchObject({ orders: [{ id: '820982911946154500' }, { id: large }] });
});

test.each([
  ['blaze order', {}, 'order_updated', `{"id":${large},"status":"A"}`, 'orders'],
  ['blaze member', {}, 'new_member', `{"id":${large}}`, 'members'],
  ['delivery job of the POS', {}, 'job_assigned', `{"id":${large}}`, 'delivery-jobs'],
  [
    'job of Onfleet',
    { delivery: { kind: 'onfleet' } },
    'job_assigned',
    `{"taskId":${large},"triggerId":9,"time":1}`,
    'delivery-jobs',
  ],
  [
    'job of DoorDash',
    { delivery: { kind: 'doordash' } },
    'job_assigned',
    `{"external_delivery_id":${large},"event_name":"DASHER_CONFIRMED","created_at":"2026-01-01T00:00:00Z"}`,
    'delivery-jobs',
  ],
  [
    'identity verification',
    {},
    'identity-verification-updated/persona',
    `{"service":"persona","transactionId":${large},"status":"A"}`,
    'verifications',
  ],
  [
    'decision of Veriff',
    {},
    'identity-verification-completed/veriff',
    `{"verification":{"id":${large},"code":9001}}`,
    'verifications',
  ],
  ['order in a form', {}, 'order_updated', `payload={"id":${large},"status":"A"}`, 'orders'],
])('the id of a %s above 2^53 is never rounded', async (_name, settings, path, body, list) => {
  const { id, webhookToken } = await service.store(settings);
  const type = body.startsWith('payload') ? 'application/x-www-form-urlencoded' : 'application/json';
  await service.hook(path, webhookToken, body, { 'content-type': type });
  await service.settled();
  expect(JSON.stringify(await get(`${id}/${list}`))).toContain(`"${large}"`);
  expect(await get(`${id}/events?entity=${large}`)).toMatchObject({ events: [{ status: 'done' }] });
});

test('an id above 2^53 in the answer of a provider is not rounded either', async () => {
  const { id, webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url } });
  await service.admin('POST', `/v1/stores/${id}/users`, { consumerUserId: large, email: 'a@example.test' });
  // JSON.rawJSON: Node.js 22 and later
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  standIn.members.set(large, { id: rawJSON(large), email: 'pos@example.test' });
  await service.hook('new_member', webhookToken, `{"id":${large}}`);
  await service.settled();
  expect(await get(`${id}/users`)).toMatchObject({ users: [{ email: 'pos@example.test' }] });
});

test.each(['8.20982911946154508e17', '820982911946154508.0', '-1e400'])(
  'the number %s is not accepted as an id, because it may be rounded',
  async (number) => {
    const { id, webhookToken } = await service.store();
    await service.hook('order_updated', webhookToken, `{"id":${number},"status":"A"}`);
    await service.settled();
    expect(await get(`${id}/orders`)).toMatchObject({ orders: [] });
    expect(await get(`${id}/events`)).toMatchObject({ events: [{ status: 'failed' }] });
  },
);

test.each([
  ['in a JSON text', Buffer.from('{"id": "o-1", "status": "A\0B", "cart": {"items": []}}')],
  ['everywhere', Buffer.from([0, 0xff, 0, 0x7b, 0, 0x0a, 0xfe, 0])],
])('a body with NUL bytes %s is stored, spooled and replayed byte for byte', async (_name, sent) => {
  await using service = await startService();
  const { id, webhookToken } = await service.store();
  const answer = await fetch(`${service.url}/api/v1/hooks/order_updated/${webhookToken}`, {
    method: 'POST',
    body: sent,
    headers: { 'content-type': 'application/json' },
  });
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  const { sql } = service.context.database;
  const rows = () =>
    sql`select id, encode(dedup, 'hex') as dedup, body, state, received_at from inbox where store_id = ${id}`;
  const [stored] = await rows();
  expect(stored?.['body']).toEqual(sent);

  for (const table of ['events', 'queue', 'results'])
    await sql`delete from ${sql(table)} where store_id = ${id}`;
  let isDown = true;
  const spool = createSpool({
    folder: join(service.spool, 'bytes'),
    maxBytes: 1e6,
    log: service.context.log,
    pauseMs: 5,
    store: (events) => (isDown ? Promise.reject(new Error('down')) : storeEvents(sql, events)),
  });
  await spool.add({
    storeId: id,
    id: stored?.['id'] as string,
    event: 'order_updated',
    service: null,
    entity: null,
    dedup: stored?.['dedup'] as string,
    byContent: true,
    body: sent,
    headers: { 'content-type': 'application/json' },
    receivedAt: new Date(stored?.['received_at'] as string),
    state: 'failed',
    error: 'The body is not readable.',
    holdMs: 0,
  } satisfies ReceivedEvent);
  isDown = false;
  while (spool.active) await sleep(5);
  await spool[Symbol.asyncDispose]();
  expect(await rows()).toEqual([stored]);

  const path = `/v1/stores/${id}/events/${String(stored?.['id'])}`;
  expect((await service.admin('POST', `${path}/replay`)).status).toBe(202);
  await service.settled();
  expect((await rows())[0]).toMatchObject({ body: sent, state: 'failed' });
  expect((await service.admin('GET', path)).body).toMatchObject({ bytes: sent.length, body: null });
});
