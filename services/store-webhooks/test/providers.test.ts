import { createHmac } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import * as blaze from './fixtures/blaze.ts';
import * as doordash from './fixtures/doordash.ts';
import * as generic from './fixtures/generic.ts';
import * as onfleet from './fixtures/onfleet.ts';
import * as persona from './fixtures/persona.ts';
import * as posDelivery from './fixtures/pos-delivery.ts';
import * as square from './fixtures/square.ts';
import * as veriff from './fixtures/veriff.ts';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';

const standIn = await startStandIn();
const service = await startService({ variables: { PUBLIC_URL: 'https://hooks.example.test/' } });
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});
beforeEach(() => {
  standIn.mood = 'well';
  standIn.asked.length = 0;
});

const get = async (path: string) => (await service.admin('GET', `/v1/stores/${path}`)).body;

test('blaze: an order keeps its amounts to the cent, its cart is looked up where it is missing', async () => {
  const { id, webhookToken } = await service.store({
    pos: { kind: 'blaze', baseUrl: standIn.url, credentials: { apiKey: 'k', authorization: 'a' } },
  });
  await service.hook('order_updated', webhookToken, blaze.order);
  await service.settled();
  // 37.515 is half a cent too much for a record in cents.
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
  expect(standIn.asked).toMatchObject([
    {
      method: 'GET',
      path: '/api/v1/partner/store/cart/b3a1f6f0',
      headers: { 'x-api-key': 'k', authorization: 'a' },
    },
  ]);
});

test('blaze: new_member refreshes a user with what the POS says now, or with the payload where it is away', async () => {
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
  standIn.mood = 'html';
  await service.hook('new_member', webhookToken, {
    ...blaze.member,
    modified: 1_700_000_000_001,
    email: 'payload@example.test',
  });
  await service.settled();
  expect((await get(`${id}/users`))['users']).toMatchObject([{ email: 'payload@example.test' }]);
});

test('member_updated never asks or tells the POS anything', async () => {
  const { id, webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url } });
  await service.admin('POST', `/v1/stores/${id}/users`, {
    consumerUserId: blaze.member.id,
    email: 'old@example.test',
  });
  await service.hook('member_updated', webhookToken, blaze.member);
  await service.settled();
  expect((await get(`${id}/users`))['users']).toMatchObject([{ email: blaze.member.email }]);
  expect(standIn.asked).toEqual([]);
});

test('square: an event names the order, Square tells it, in whole yen; the signature covers the address', async () => {
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
  expect(standIn.asked).toMatchObject([
    { path: `/v2/orders/${orderId}`, headers: { authorization: 'Bearer t' } },
  ]);
  const member = JSON.stringify(square.customerUpdated);
  const memberUrl = url.replace('order_updated', 'member_updated');
  const signed = createHmac('sha256', 'sq-secret')
    .update(memberUrl + member)
    .digest('base64');
  await service.hook('member_updated', webhookToken, member, { 'x-square-hmacsha256-signature': signed });
  await service.settled();
  expect((await get(`${id}/members`))['members']).toMatchObject([{ firstName: 'Amelia', modified: 7 }]);
});

test('generic: pointers in the settings find the fields', async () => {
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

test('the delivery shape of the seed', async () => {
  const { id, webhookToken } = await service.store();
  await service.hook('job_assigned', webhookToken, posDelivery.job);
  await service.settled();
  const { estimatedArrival: _, ...job } = posDelivery.job;
  expect(await get(`${id}/delivery-jobs/job-1`)).toMatchObject({
    ...job,
    stage: 'assigned',
    estimatedArrival: '2023-11-14T22:23:20.000Z',
  });
});

test('onfleet: the trigger in the body counts; a wrong signature is kept as refused and does not shut out the right one', async () => {
  const secret = 'a1b2c3d4';
  const { id, webhookToken } = await service.store({
    delivery: { kind: 'onfleet', credentials: { webhookSecret: secret } },
  });
  const body = JSON.stringify(onfleet.taskStarted);
  const right = createHmac('sha512', Buffer.from(secret, 'hex')).update(body).digest('hex');
  for (const signature of ['00', right])
    expect(
      (await service.hook('job_assigned', webhookToken, body, { 'x-onfleet-signature': signature })).status,
    ).toBe(200);
  expect((await service.hook('job_assigned', webhookToken, body)).status).toBe(200);
  await service.settled();
  expect(await get(`${id}/delivery-jobs/${encodeURIComponent(onfleet.taskStarted.taskId)}`)).toMatchObject({
    stage: 'started',
    status: 'ACTIVE',
    orderId: 'order-1',
    driverId: '1Ds6ulPYWxNPgaIaoLPqlIQE',
    driverLocation: { lat: 37.77, lng: -122.41 },
    startedAt: '2021-02-10T20:00:00.123Z',
    estimatedArrival: '2021-02-10T21:00:00.000Z',
  });
  const { events } = await get(`${id}/events?status=refused`);
  expect(events).toHaveLength(1);
  const [{ id: eventId }] = events as unknown as [{ id: string }];
  expect(await service.admin('POST', `/v1/stores/${id}/events/${eventId}/replay`)).toMatchObject({
    status: 409,
    body: { code: 'event_refused' },
  });
});

test('doordash: its own event name decides, and what is none of the four is put aside', async () => {
  const { id, webhookToken } = await service.store({ delivery: { kind: 'doordash' } });
  await service.hook('job_assigned', webhookToken, doordash.pickedUp);
  await service.hook('job_assigned', webhookToken, { ...doordash.pickedUp, event_name: 'DELIVERY_BATCHED' });
  await service.settled();
  expect(await get(`${id}/delivery-jobs/D-1763`)).toMatchObject({
    stage: 'started',
    status: 'picked_up',
    driverId: '1232142',
    startedAt: '2021-10-28T22:05:00.000Z',
    driverLocation: { lat: 37.77, lng: -122.42 },
  });
  expect((await get(`${id}/events`))['events']).toMatchObject([{ status: 'ignored' }, { status: 'done' }]);
});

test('persona: its own shape and the seed’s; signed, and asked where a message carries no status', async () => {
  const { id, webhookToken } = await service.store({
    identity: {
      kind: 'persona',
      baseUrl: standIn.url,
      credentials: { apiKey: 'pk', webhookSecret: 'wbhsec_1,wbhsec_2' },
    },
  });
  const sign = (body: string, at = Math.floor(Date.now() / 1000)) =>
    `t=${at},v1=${createHmac('sha256', 'wbhsec_2').update(`${at}.${body}`).digest('hex')}`;
  const send = (body: object, signature?: string) => {
    const text = JSON.stringify(body);
    return service.hook('identity-verification-updated/persona', webhookToken, text, {
      'persona-signature': signature ?? sign(text),
    });
  };
  await send(persona.approved);
  await send(persona.approved);
  await service.settled();
  const inquiryId = persona.inquiry.data.id;
  expect(await get(`${id}/verifications/${inquiryId}`)).toMatchObject({
    service: 'persona',
    status: 'approved',
    userId: 'user-1',
    completed: false,
  });
  const old = { service: 'persona', transactionId: inquiryId, status: 'PENDING_REVIEW', updatedAt: 1 };
  await send(old);
  await send({ ...old, transactionId: 'inq_other' }, 't=1,v1=00');
  standIn.inquiries.set('inq_asked', { data: { ...persona.inquiry.data, id: 'inq_asked' } });
  await send({ service: 'persona', transactionId: 'inq_asked' });
  await service.settled();
  expect((await get(`${id}/verifications`))['verifications']).toMatchObject([
    { transactionId: 'inq_asked', status: 'approved' },
    { transactionId: inquiryId, status: 'approved' },
  ]);
  expect((await get(`${id}/events?status=refused`))['events']).toHaveLength(1);
});

test('veriff: progress, decision, signature; completed stays completed', async () => {
  const { id, webhookToken } = await service.store({
    identity: { kind: 'veriff', credentials: { webhookSecret: 'vs' } },
  });
  const send = (event: string, body: object) => {
    const text = JSON.stringify(body);
    const signature = createHmac('sha256', 'vs').update(text).digest('hex');
    return service.hook(`${event}/veriff`, webhookToken, text, { 'x-hmac-signature': signature });
  };
  const path = `${id}/verifications/${veriff.submitted.id}`;
  await send('identity-verification-updated', veriff.submitted);
  await service.settled();
  expect(await get(path)).toMatchObject({ status: 'submitted', completed: false, userId: 'user-2' });
  await send('identity-verification-completed', veriff.declined);
  await service.settled();
  expect(await get(path)).toMatchObject({ status: 'declined', completed: true });
  const earlier = { ...veriff.declined.verification, code: 9103, decisionTime: '2024-03-15T18:00:00.000Z' };
  await send('identity-verification-updated', { ...veriff.declined, verification: earlier });
  await service.settled();
  expect(await get(path)).toMatchObject({ status: 'declined', completed: true });
});
