import { createHmac } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import * as blaze from './fixtures/blaze.ts';
import * as generic from './fixtures/generic.ts';
import * as square from './fixtures/square.ts';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';

const standIn = await startStandIn();
const service = await startService({ variables: { PUBLIC_URL: 'https://hooks.example.test/' } });
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});
beforeEach(() => {
  standIn.behaviour = 'normal';
  standIn.requests.length = 0;
});

const get = async (path: string) => (await service.admin('GET', `/v1/stores/${path}`)).body;

test('blaze: an order keeps its exact amounts, and a missing cart is looked up', async () => {
  const { id, webhookToken } = await service.store({
    pos: { kind: 'blaze', baseUrl: standIn.url, credentials: { apiKey: 'k', authorization: 'a' } },
  });
  await service.hook('order_updated', webhookToken, blaze.order);
  await service.settled();
  // Amounts are stored in cents, so 37.515 is rounded.
  expect(await get(`${id}/orders/${blaze.order.id}`)).toMatchObject({
    ...blaze.order,
    cart: { ...blaze.order.cart, total: 37.52 },
  });
  standIn.carts.set('b3a1f6f0', { ...blaze.order.cart, total: 1.01 });
  const { cart: _, ...bare } = blaze.order;
  await service.hook('order_updated', webhookToken, { ...bare, status: 'COMPLETED' });
  await service.settled();
  expect(await get(`${id}/orders/${blaze.order.id}`)).toMatchObject({
    status: 'COMPLETED',
    cart: { total: 1.01 },
  });
  expect(standIn.requests).toMatchObject([
    {
      method: 'GET',
      path: '/api/v1/partner/store/cart/b3a1f6f0',
      headers: { 'x-api-key': 'k', authorization: 'a' },
    },
  ]);
});

test('blaze: an order with neither a cart nor a publicKey is stored as sent, without a request to the POS', async () => {
  const { id, webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url } });
  const { cart: _cart, publicKey: _publicKey, ...bare } = blaze.order;
  await service.hook('order_updated', webhookToken, bare);
  await service.settled();
  expect(await get(`${id}/orders/${bare.id}`)).toMatchObject({
    status: bare.status,
    cart: { total: null, items: [] },
  });
  expect(standIn.requests).toEqual([]);
});

test('blaze: new_member refreshes a user from the POS, or from the payload if the POS is unavailable', async () => {
  const { id, webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url } });
  await service.admin('POST', `/v1/stores/${id}/users`, {
    consumerUserId: blaze.member.id,
    email: 'old@example.test',
  });
  standIn.members.set(blaze.member.id, { ...blaze.member, email: 'pos@example.test' });
  await service.hook('new_member', webhookToken, blaze.member);
  await service.settled();
  expect((await get(`${id}/users`))['users']).toMatchObject([
    { email: 'pos@example.test', firstName: 'Ann' },
  ]);
  standIn.behaviour = 'html';
  await service.hook('new_member', webhookToken, {
    ...blaze.member,
    modified: 1_700_000_000_001,
    email: 'payload@example.test',
  });
  await service.settled();
  expect((await get(`${id}/users`))['users']).toMatchObject([{ email: 'payload@example.test' }]);
});

test('member_updated never sends a request to the POS', async () => {
  const { id, webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url } });
  await service.admin('POST', `/v1/stores/${id}/users`, {
    consumerUserId: blaze.member.id,
    email: 'old@example.test',
  });
  await service.hook('member_updated', webhookToken, blaze.member);
  await service.settled();
  expect((await get(`${id}/users`))['users']).toMatchObject([{ email: blaze.member.email }]);
  expect(standIn.requests).toEqual([]);
});

test('square: the order is looked up, its amounts are whole yen, and the signature covers the address', async () => {
  const { id, webhookToken } = await service.store({
    pos: {
      kind: 'square',
      baseUrl: standIn.url,
      credentials: { accessToken: 't', webhookSecret: 'sq-secret' },
    },
  });
  const orderId = square.orderAnswer.order.id;
  standIn.orders.set(orderId, square.orderAnswer);
  const body = JSON.stringify(square.orderUpdated);
  const url = `https://hooks.example.test/api/v1/hooks/order_updated/${webhookToken}`;
  const signature = (text: string) =>
    createHmac('sha256', 'sq-secret')
      .update(url + text)
      .digest('base64');
  await service.hook('order_updated', webhookToken, body, {
    'x-square-hmacsha256-signature': signature('other'),
  });
  await service.hook('order_updated', webhookToken, body, {
    'x-square-hmacsha256-signature': signature(body),
  });
  await service.hook('order_updated', webhookToken, body, {
    'x-square-hmacsha256-signature': signature(body),
  });
  await service.settled();
  expect(await get(`${id}/orders/${orderId}`)).toMatchObject({
    status: 'OPEN',
    currency: 'JPY',
    cart: { total: 750, items: [{ productName: 'Coffee', quantity: 2, price: 350, totalPrice: 700 }] },
  });
  expect((await get(`${id}/events`))['events']).toMatchObject([{ status: 'done' }, { status: 'refused' }]);
  expect(standIn.requests).toMatchObject([
    { path: `/v2/orders/${orderId}`, headers: { authorization: 'Bearer t' } },
  ]);
  const member = JSON.stringify(square.customerUpdated);
  const memberUrl = url.replace('order_updated', 'member_updated');
  const memberSignature = createHmac('sha256', 'sq-secret')
    .update(memberUrl + member)
    .digest('base64');
  await service.hook('member_updated', webhookToken, member, {
    'x-square-hmacsha256-signature': memberSignature,
  });
  await service.settled();
  expect((await get(`${id}/members`))['members']).toMatchObject([{ firstName: 'Ann', modified: 7 }]);
});

test('generic: the fields are read at the JSON pointers of the settings', async () => {
  const { id, webhookToken } = await service.store({ pos: { kind: 'generic', mapping: generic.mapping } });
  await service.hook('order_updated', webhookToken, generic.order);
  await service.hook('new_member', webhookToken, generic.member);
  await service.settled();
  expect(await get(`${id}/orders/77`)).toMatchObject({
    status: 'ready',
    currency: 'EUR',
    cart: {
      total: 12.5,
      items: [{ productId: 'a~/b', productName: 'Bread', quantity: 2, price: 6.25, totalPrice: null }],
    },
  });
  expect((await get(`${id}/members`))['members']).toMatchObject([
    { id: 'c-9', email: 'c9@example.test', firstName: 'Cleo' },
  ]);
});

test('square: an order without a state gets the state of the event', async () => {
  const { id, webhookToken } = await service.store({
    pos: { kind: 'square', baseUrl: standIn.url, credentials: { accessToken: 't' } },
  });
  const { state: _, ...stateless } = square.orderAnswer.order;
  standIn.orders.set(stateless.id, { order: stateless });
  const { order_updated: changed } = square.orderUpdated.data.object;
  const completed = { ...changed, state: 'COMPLETED' };
  await service.hook('order_updated', webhookToken, {
    ...square.orderUpdated,
    data: { ...square.orderUpdated.data, object: { order_updated: completed } },
  });
  await service.settled();
  expect(await get(`${id}/orders/${stateless.id}`)).toMatchObject({ status: 'COMPLETED' });
});

test.each(['..', '.', '', '../../../admin', '%2e%2e', '..\\..'])(
  'a publicKey %j never changes the requested path',
  async (publicKey) => {
    const { id, webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url } });
    const { cart: _, ...bare } = blaze.order;
    await service.hook('order_updated', webhookToken, { ...bare, publicKey });
    await service.settled();
    const paths = standIn.requests.map(({ path }) => path);
    const isSegment = !['..', '.', ''].includes(publicKey);
    expect(paths).toEqual(isSegment ? [`/api/v1/partner/store/cart/${encodeURIComponent(publicKey)}`] : []);
    expect((await get(`${id}/events`))['events']).toMatchObject([{ status: 'failed' }]);
  },
);

test.each(['..', '../customers/x'])('square: an order id %j never changes the path', async (orderId) => {
  const { webhookToken } = await service.store({
    pos: { kind: 'square', baseUrl: `${standIn.url}/base/`, credentials: { accessToken: 't' } },
  });
  const event = structuredClone(square.orderUpdated);
  event.data.object.order_updated.order_id = orderId;
  await service.hook('order_updated', webhookToken, event);
  await service.settled();
  expect(standIn.requests.map(({ path }) => path)).toEqual(
    orderId === '..' ? [] : ['/base/v2/orders/..%2Fcustomers%2Fx'],
  );
});
