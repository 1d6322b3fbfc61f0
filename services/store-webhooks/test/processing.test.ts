import { afterAll, expect, test, vi } from 'vitest';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const order = {
  id: 'o-1',
  orderNo: '1001',
  status: 'PENDING',
  consumerId: 'c-1',
  memo: 'ring twice',
  rewardName: null,
  publicKey: 'pk-1',
  memberGroup: 'RECREATIONAL',
  trackingStatus: 'DELIVERED',
  cart: {
    subTotal: 20.1,
    discount: 0,
    totalDiscount: 0,
    deliveryFee: 5,
    creditCardFee: 0.35,
    total: 25.45,
    taxTotal: 0,
    totalCalcTax: 0,
    promoCode: null,
    items: [
      { productId: 'p-1', productName: 'One', quantity: 1, price: 10.05, totalPrice: 10.05 },
      { productId: 'p-2', productName: 'Two', quantity: 1, price: 10.05, totalPrice: 10.05 },
    ],
  },
};

const get = async (path: string) => (await service.admin('GET', `/v1/stores/${path}`)).body;
const notices = async (id: string) =>
  ((await get(`${id}/notifications`))['notifications'] ?? []) as unknown as object[];

test('an order is returned with its items, in the format of its webhook', async () => {
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order);
  await service.settled();
  expect(await get(`${id}/orders/o-1`)).toMatchObject(order);
  expect(await get(`${id}/orders`)).toMatchObject({
    orders: [{ id: 'o-1' }],
    page: { number: 1, has_more: false },
  });
});

test('items that an order no longer has are removed by the next update', async () => {
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order);
  const items = order.cart.items.slice(1);
  await service.hook('order_updated', webhookToken, { ...order, cart: { ...order.cart, items } });
  await service.settled();
  expect((await get(`${id}/orders/o-1`))['cart']?.['items']).toEqual(items);
});

test('each change of status causes one notification, even if the event is sent repeatedly', async () => {
  const { id, webhookToken } = await service.store();
  const completed = { ...order, status: 'COMPLETED' };
  for (const body of [order, order, completed, completed, { ...completed, memo: 'other' }])
    await service.hook('order_updated', webhookToken, body);
  await service.settled();
  expect(await notices(id)).toMatchObject([
    { audience: 'customer', subject: 'Your order 1001 is now COMPLETED', reference: 'o-1', mail: 'off' },
    { audience: 'customer', subject: 'Your order 1001 is now PENDING' },
  ]);
});

test('unknown statuses are stored unchanged', async () => {
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, { ...order, status: 'Lost in the Post' });
  await service.settled();
  expect(await get(`${id}/orders/o-1`)).toMatchObject({ status: 'Lost in the Post' });
});

test('an order with an older version never replaces a newer one', async () => {
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, { ...order, status: 'COMPLETED', modified: 20 });
  await service.hook('order_updated', webhookToken, { ...order, status: 'PENDING', modified: 10 });
  await service.settled();
  expect(await get(`${id}/orders/o-1`)).toMatchObject({ status: 'COMPLETED' });
});

test('after A, B and A without versions the order has the last A', async () => {
  const { id, webhookToken } = await service.store();
  for (const status of ['A', 'B', 'A'])
    await service.hook('order_updated', webhookToken, { ...order, status });
  await service.settled();
  expect(await get(`${id}/orders/o-1`)).toMatchObject({ status: 'A' });
});

test('a new member without a user is imported once, if customer imports are enabled', async () => {
  const importing = await service.store({ customerImportsEnabled: true });
  const other = await service.store();
  const member = {
    id: 'm-1',
    modified: 1,
    email: 'a@example.test',
    firstName: 'Ann',
    lastName: 'B',
    phone: '1',
  };
  for (const { webhookToken } of [importing, other])
    for (const modified of [1, 2, 3]) await service.hook('new_member', webhookToken, { ...member, modified });
  await service.settled();
  const jobs = await get(`${importing.id}/import-jobs`);
  expect(jobs['importJobs']).toMatchObject([{ memberId: 'm-1', state: 'done' }]);
  const { modified: _, id: _id, ...profile } = member;
  expect((await get(`${importing.id}/users`))['users']).toMatchObject([
    { consumerUserId: 'm-1', ...profile },
  ]);
  expect((await get(`${other.id}/import-jobs`))['importJobs']).toEqual([]);
  expect((await get(`${other.id}/users`))['users']).toEqual([]);
  expect(await notices(other.id)).toHaveLength(3);
});

test('member_updated refreshes the matching user, but not with older data, and keeps fields that it does not contain', async () => {
  const { id, webhookToken } = await service.store();
  const user = { consumerUserId: 'm-2', email: 'old@example.test', firstName: 'Old', phone: '7' };
  expect((await service.admin('POST', `/v1/stores/${id}/users`, user)).status).toBe(201);
  await service.hook('member_updated', webhookToken, { id: 'm-2', modified: 9, email: 'new@example.test' });
  await service.hook('member_updated', webhookToken, { id: 'm-2', modified: 8, email: 'stale@example.test' });
  await service.settled();
  expect((await get(`${id}/users`))['users']).toMatchObject([
    { email: 'new@example.test', firstName: 'Old', phone: '7' },
  ]);
  expect((await get(`${id}/members`))['members']).toMatchObject([{ id: 'm-2', email: 'new@example.test' }]);
});

test('a job never moves back, and late events still fill in times and driver', async () => {
  const { id, webhookToken } = await service.store();
  const job = { id: 'j-1', orderId: 'o-1', status: 'STARTED' };
  await service.hook('job_started', webhookToken, job);
  const late = {
    ...job,
    status: 'ASSIGNED',
    driverId: 'd-1',
    estimatedArrival: 1_700_000_000_000,
    driverLocation: { lat: 1.5, lng: -2 },
  };
  await service.hook('job_assigned', webhookToken, late);
  await service.settled();
  expect(await get(`${id}/delivery-jobs/j-1`)).toMatchObject({
    stage: 'started',
    status: 'STARTED',
    driverId: 'd-1',
    driverLocation: { lat: 1.5, lng: -2 },
    estimatedArrival: '2023-11-14T22:13:20.000Z',
    assignedAt: expect.any(String),
    startedAt: expect.any(String),
    arrivedAt: null,
  });
  await service.hook('job_completed', webhookToken, { ...job, status: 'DONE' });
  await service.settled();
  expect(await get(`${id}/delivery-jobs/j-1`)).toMatchObject({ stage: 'completed', status: 'DONE' });
  expect((await notices(id)).map((notice) => (notice as { subject: string }).subject).toSorted()).toEqual([
    'A delivery is on its way',
    'A delivery was delivered',
    'Your order is on its way',
    'Your order was delivered',
  ]);
});

test.each([
  ['a wrong shape', 'order_updated', { id: 'o-9', status: 7 }],
  ['no id', 'order_updated', { status: 'PENDING' }],
  ['a list', 'job_started', []],
  ['no service', 'identity-verification-updated/persona', { transactionId: 't', status: 'PENDING_REVIEW' }],
])(
  'an event with %s is answered {} and shown as failed, with an error that contains no values',
  async (_n, path, body) => {
    const { id, webhookToken } = await service.store();
    const answer = await service.hook(path, webhookToken, body);
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
    await service.settled();
    const { events } = await get(`${id}/events?status=failed`);
    expect(events).toMatchObject([
      { status: 'failed', attempts: 1, error: expect.stringMatching(/payload/) },
    ]);
  },
);

test('an event of an unknown identity service is ignored', async () => {
  const { id, webhookToken } = await service.store();
  const body = { service: 'somebody', transactionId: 't-1', status: 'X' };
  expect((await service.hook('identity-verification-updated/somebody', webhookToken, body)).status).toBe(200);
  await service.settled();
  expect((await get(`${id}/events`))['events']).toMatchObject([{ status: 'ignored' }]);
  expect((await get(`${id}/verifications`))['verifications']).toEqual([]);
});

test('a failing event is attempted ten times and then fails; events of other entities do not wait for it', async () => {
  const store = await service.store();
  const { sql } = service.context.database;
  await sql`create function refuse() returns trigger language plpgsql as $$ begin
    if new.id = 'poison' then raise exception 'the email is a@example.test'; end if; return new; end $$`;
  await sql`create trigger refuse before insert on orders for each row execute function refuse()`;
  await service.hook('order_updated', store.webhookToken, { ...order, id: 'poison' });
  await service.hook('order_updated', store.webhookToken, { ...order, id: 'fine' });
  await service.settled();
  await sql`drop trigger refuse on orders`;
  const { events } = await get(`${store.id}/events`);
  expect(events).toMatchObject([
    { entity: 'order:fine', status: 'done', attempts: 1 },
    { entity: 'order:poison', status: 'failed', attempts: 10, error: 'SQLSTATE P0001' },
  ]);
  expect(service.lines.join('')).not.toContain('a@example.test');
});

test('an event with a value that the database refuses fails at once, and the others of its batch do not', async () => {
  const store = await service.store();
  const { sql } = service.context.database;
  await sql`create function refuse_value() returns trigger language plpgsql as $$ begin
    if new.id = 'poison' then raise exception using errcode = '22008'; end if; return new; end $$`;
  await sql`create trigger refuse_value before insert on orders for each row execute function refuse_value()`;
  await Promise.all(
    ['poison', 'fine'].map((id) => service.hook('order_updated', store.webhookToken, { ...order, id })),
  );
  await service.settled();
  await sql`drop trigger refuse_value on orders`;
  const statuses = async (status: string) => (await get(`${store.id}/events?status=${status}`))['events'];
  expect(await statuses('done')).toMatchObject([{ entity: 'order:fine' }]);
  expect(await statuses('failed')).toMatchObject([
    { entity: 'order:poison', attempts: 1, error: 'SQLSTATE 22008' },
  ]);
});

test('a batch that loses its connection is rolled back and retried as a whole, without a counted attempt or a report', async () => {
  await using instance = await startService({ variables: { LEASE_MS: '300' } });
  const { database, tracker } = instance.context;
  const { begin } = database.sql;
  const { webhookToken } = await instance.store();
  const reports = vi.spyOn(tracker, 'capture');
  let failures = 0;
  vi.spyOn(database.sql, 'begin').mockImplementation(async (...parameters: unknown[]) => {
    if (failures++ < 20) throw Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' });
    return (begin as (...all: unknown[]) => Promise<unknown>)(...parameters);
  });
  const sent = Array.from({ length: 8 }, (_, at) =>
    instance.hook('order_updated', webhookToken, { ...order, id: `o-${at}` }),
  );
  for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
  await instance.settled();
  expect(reports).not.toHaveBeenCalled();
  expect(await database.sql`select distinct state, attempts from results`).toEqual([
    { state: 'done', attempts: 1 },
  ]);
});

test('events of a store with the same failure write ten error lines per minute, and one line that counts the others', async () => {
  const instance = await startService();
  const { id, webhookToken } = await instance.store();
  for (let n = 0; n < 20; n++) await instance.hook('order_updated', webhookToken, { orderNo: n });
  await instance.settled();
  await instance[Symbol.asyncDispose]();
  expect(instance.lines.filter((line) => line.includes('processing failed'))).toHaveLength(10);
  const repeated = instance.lines.filter((line) => line.includes('repeated failures'));
  expect(repeated.map((line) => JSON.parse(line))).toMatchObject([{ storeId: id, count: 10 }]);
});

test('an event of an unknown store, for example after a restore, loses its body and is not claimed again', async () => {
  const { sql } = service.context.database;
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order);
  await service.settled();
  const failures = '0198c5a0-7e57-7000-8000-0000000000ff';
  await sql`
    with stored as (
      insert into events (store_id, id, event, dedup, body, headers, received_at)
      select ${failures}, uuidv7(), event, dedup, body, headers, received_at from events where store_id = ${id}
      returning store_id, id)
    insert into queue (store_id, entity, id, queued_at, due_at, attempts)
    select store_id, 'order:o-1', id, now(), now(), 0 from stored`;
  service.context.inbox.wake();
  await expect
    .poll(() => sql`select state, error from results where store_id = ${failures}`)
    .toEqual([{ state: 'ignored', error: 'store_unknown' }]);
  const [stored] = await sql<{ body: Buffer; hash: Buffer | null }[]>`
    select body, body_hash as hash from events where store_id = ${failures}`;
  expect([stored?.body.length, stored?.hash?.length]).toEqual([0, 32]);
});
