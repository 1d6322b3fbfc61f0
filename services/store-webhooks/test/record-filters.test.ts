import { afterAll, beforeAll, expect, test } from 'vitest';
import * as onfleet from './fixtures/onfleet.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

let path = '';
let token = '';
let other = { path: '', token: '' };

const send = async (event: string, body: object, to = token) => {
  await service.hook(event, to, body);
  await service.settled();
};

const cartOf = (productName: string) => ({ total: 25, items: [{ productName, quantity: 1 }] });

beforeAll(async () => {
  const store = await service.store();
  const { id, webhookToken } = await service.store({ delivery: { kind: 'onfleet' } });
  [path, token] = [`/v1/stores/${store.id}`, store.webhookToken];
  other = { path: `/v1/stores/${id}`, token: webhookToken };
  await send('order_updated', { id: 'o-1', orderNo: 'A-100', status: 'PENDING', consumerId: 'm-1' });
  await send('order_updated', {
    id: 'o-2',
    status: 'COMPLETED',
    consumerId: 'm-1',
    cart: cartOf('Große "Tea"'),
  });
  await send('order_updated', { id: 'o-3', status: 'PENDING', consumerId: 'm-2', memo: 'Ring twice, 100%' });
  await send('new_member', {
    id: 'm-1',
    firstName: 'Ann',
    lastName: 'Li',
    email: 'ann@example.test',
    status: 'ACTIVE',
  });
  await send('new_member', { id: 'm-2', firstName: 'Bo', phone: '+1 555 0100', status: 'BLOCKED' });
  await send('job_assigned', { id: 'j-1', orderId: 'o-1', status: 'ASSIGNED' });
  await send('job_completed', { id: 'j-2', orderId: 'o-2', status: 'DONE' });
  await send(
    'order_updated',
    { id: 'o-9', orderNo: 'A-100', status: 'PENDING', consumerId: 'm-1' },
    other.token,
  );
});

const idsOf = async (list: string, query: Record<string, string>, store = path) => {
  const { status, body } = await service.admin(
    'GET',
    `${store}/${list}?${new URLSearchParams(query).toString()}`,
  );
  const [rows] = Object.values(body) as unknown as [{ id: string }[]];
  return status === 200 ? rows.map(({ id }) => id) : status;
};

test.each<[string, Record<string, string>, string[]]>([
  ['orders', { status: 'PENDING' }, ['o-3', 'o-1']],
  ['orders', { status: 'pending' }, []],
  ['orders', { consumerId: 'm-1' }, ['o-2', 'o-1']],
  ['orders', { consumerId: 'm-1', status: 'PENDING' }, ['o-1']],
  ['orders', { text: 'a-10' }, ['o-1']],
  ['orders', { text: 'GROSSE "tea' }, ['o-2']],
  ['orders', { text: 'twice, 100%' }, ['o-3']],
  ['orders', { text: '_' }, []],
  ['orders', { text: 'twice', consumerId: 'm-1' }, []],
  ['members', { status: 'BLOCKED' }, ['m-2']],
  ['members', { text: 'ann li' }, ['m-1']],
  ['members', { text: 'ANN@' }, ['m-1']],
  ['members', { text: '555 01' }, ['m-2']],
  ['members', { text: 'm-1' }, []],
  ['delivery-jobs', { status: 'ASSIGNED' }, ['j-1']],
  ['delivery-jobs', { stage: 'completed' }, ['j-2']],
  ['delivery-jobs', { stage: 'failed' }, []],
])('the %s with %j are found in this store only, newest first', async (list, query, ids) => {
  expect(await idsOf(list, query)).toEqual(ids);
});

test('records are found that have changed at or after a time', async () => {
  const updatedAt = async (record: string) =>
    ((await service.admin('GET', `${path}/${record}`)).body as unknown as { updatedAt: string }).updatedAt;
  const time = await updatedAt('orders/o-2');
  expect(await idsOf('orders', { updatedAfter: time })).toEqual(['o-3', 'o-2']);
  expect(await idsOf('orders', { updatedAfter: '0000-01-01T00:00:00Z' })).toHaveLength(3);
  expect(await idsOf('orders', { updatedAfter: '9999-12-31T23:59:59Z' })).toEqual([]);
  expect(await idsOf('members', { updatedAfter: await updatedAt('members/m-2') })).toEqual(['m-2']);
  expect(await idsOf('delivery-jobs', { updatedAfter: await updatedAt('delivery-jobs/j-2') })).toEqual([
    'j-2',
  ]);
});

test('orders of all stores are found by the same filters', async () => {
  expect(await idsOf('orders', { text: 'a-100' }, '/v1/stores/-')).toEqual(['o-9', 'o-1']);
  expect(await idsOf('orders', { status: 'PENDING' }, '/v1/stores/-')).toEqual(['o-9', 'o-3', 'o-1']);
});

test.each([
  ['orders', 'status', '\0'],
  ['orders', 'status', ''],
  ['orders', 'consumerId', 'x'.repeat(201)],
  ['orders', 'text', ''],
  ['orders', 'text', 'a\0'],
  ['orders', 'text', `a${'\u0301'.repeat(31)}`],
  ['orders', 'updatedAfter', '2026-01-01'],
  ['members', 'text', '\0'],
  ['delivery-jobs', 'stage', 'unknown'],
])('the %s with %s=%j are refused with 400', async (list, filter, value) => {
  expect(await idsOf(list, { [filter]: value })).toBe(400);
});

test('50 concurrent searches are answered or refused, and other requests are answered meanwhile', async () => {
  const searches = Array.from({ length: 50 }, () => idsOf('orders', { text: 'a-10' }));
  expect(await idsOf('orders', { consumerId: 'm-2' })).toEqual(['o-3']);
  for (const answer of await Promise.all(searches)) expect([['o-1'], 503]).toContainEqual(answer);
});

test('a job shows the name and phone of its driver, and a dry run hides them', async () => {
  await send('job_started', onfleet.taskStarted, other.token);
  const { taskId } = onfleet.taskStarted;
  const driver = { driverName: 'A Swartz', driverPhone: '+15555550113' };
  expect((await service.admin('GET', `${other.path}/delivery-jobs/${taskId}`)).body).toMatchObject(driver);
  expect((await service.admin('GET', `${path}/delivery-jobs/j-1`)).body).toMatchObject({
    driverName: null,
    driverPhone: null,
  });
  const { sql } = service.context.database;
  await sql`delete from delivery_jobs where id = ${taskId}`;
  const [eventId] = (await idsOf('events', { entity: taskId }, other.path)) as string[];
  const { body } = await service.admin('POST', `${other.path}/events/${eventId}/replay?dryRun=true`);
  expect(body['changes']).toMatchObject([
    { after: { stage: 'started', driverName: '[redacted]', driverPhone: '[redacted]' } },
  ]);
});
