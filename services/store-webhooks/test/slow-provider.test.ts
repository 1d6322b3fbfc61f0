import { afterAll, beforeEach, expect, test } from 'vitest';
import { ProviderBusy } from '../src/errors.ts';
import type { ProviderReader } from '../src/providers/reader.ts';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';
import { startStandIn } from './simulate/stand-in.ts';

const standIn = await startStandIn();
afterAll(() => standIn[Symbol.asyncDispose]());
beforeEach(() => {
  standIn.behaviour = 'normal';
  standIn.requests.length = 0;
});

/** An order without a cart, so that the POS is queried for the cart. */
const order = (id: string, more: object = {}) => ({ id, publicKey: id, status: 'A', ...more });
const withCart = { cart: { items: [] } };
const credentials = { apiKey: 'k', authorization: 'a' };

test('while one POS hangs, events of other stores are processed', async () => {
  await using service = await startService({ variables: { PROVIDER_TIMEOUT_MS: '600000' } });
  const slow = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url, credentials } });
  const other = await service.store();
  standIn.behaviour = 'hang';
  for (let at = 0; at < 300; at += 60)
    await Promise.all(
      Array.from({ length: 60 }, (_, more) =>
        service.hook('order_updated', slow.webhookToken, order(`s-${at + more}`)),
      ),
    );
  await expect.poll(() => standIn.requests.length).toBeGreaterThan(0);
  await service.hook('order_updated', other.webhookToken, order('o-1', withCart));
  const { sql } = service.context.database;
  await expect.poll(() => sql`select id from orders`).toEqual([{ id: 'o-1' }]);
  standIn.behaviour = 'normal';
  standIn.release();
});

test('while a 3DS provider hangs, its payments do not block webhooks, even if more wait than may be in progress', async () => {
  const variables = { PROVIDER_TIMEOUT_MS: '600000', MAX_IN_PROGRESS: '4' };
  await using service = await startService({ work: false, variables });
  const payments = [
    { kind: 'threedsecureio', baseUrl: standIn.url, credentials: { apiKey: 'key-3ds-0123456789' } },
  ];
  const slow = await service.store({ payments });
  const other = await service.store();
  standIn.behaviour = 'hang';
  const numbers = Array.from({ length: 8 }, (_, at) => at);
  for (const at of numbers) {
    const payment = { service: 'threedsecureio', transactionId: `t-${at}`, orderId: 'o-1' };
    expect((await service.admin('POST', `/v1/stores/${slow.id}/payments`, payment)).status).toBe(201);
  }
  const customers = numbers.map((at) => {
    const cres = Buffer.from(
      JSON.stringify({ threeDSServerTransID: `t-${at}`, messageType: 'CRes', transStatus: 'Y' }),
    ).toString('base64url');
    const result = { service: 'threedsecureio', cres, transactionId: `t-${at}` };
    return service.hook('payment-auth-completed/threedsecureio', slow.webhookToken, result);
  });
  await expect.poll(() => standIn.requests.length).toBe(8);
  const statuses = new Set<number>();
  // Longer than the time after which waiting requests cause refusals.
  const until = performance.now() + 300;
  for (let at = 0; at < 20 || performance.now() < until; at++)
    statuses.add(
      (await service.hook('order_updated', other.webhookToken, order(`o-${at}`, withCart))).status,
    );
  expect([...statuses]).toEqual([200]);
  standIn.behaviour = 'normal';
  standIn.release();
  for (const answer of await Promise.all(customers)) expect(answer.status).toBe(302);
});

/** A provider that refuses the first `times` requests, because its circuit is open or it has too many requests. */
const refusingReader = (times: number, circuit: 'open' | 'closed' = 'open'): ProviderReader => ({
  get: () =>
    times-- > 0
      ? Promise.reject(new ProviderBusy('blaze', 'is not asked', 1, circuit))
      : Promise.resolve({ items: [] }),
  post: () => Promise.reject(new Error('not used')),
});

test.each([
  ['does not count', refusingReader(5), '1', { state: 'done', attempts: 1 }],
  [
    'is the last one after the time for retries',
    refusingReader(Infinity),
    '0.0001',
    { state: 'failed', attempts: 1 },
  ],
  [
    'is the last one after the time for retries, also when it has too many requests',
    refusingReader(Infinity, 'closed'),
    '0.0001',
    { state: 'failed', attempts: 1 },
  ],
])('an attempt without a request to the provider %s', async (_, reader, hours, expected) => {
  await using service = await startService({
    overrides: { readerOf: () => reader },
    variables: { RETRY_FOR_HOURS: hours },
  });
  const { webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url, credentials } });
  await service.hook('order_updated', webhookToken, order('o-1'));
  await service.settled();
  const { sql } = service.context.database;
  expect(await sql`select state, attempts from inbox`).toEqual([expected]);
});

test('an event that takes longer than a lease is processed once, and the leases of a killed process expire soon', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store({
    pos: { kind: 'blaze', baseUrl: standIn.url, credentials },
  });
  standIn.behaviour = 'hang';
  const settings = { PROVIDER_TIMEOUT_MS: '600000', LEASE_MS: '6000' };
  await using first = await startProcess(service, settings);
  await using second = await startProcess(service, settings);
  for (const status of ['A', 'B'])
    await service.hook('order_updated', webhookToken, order('o-1', { status }));
  await expect.poll(() => standIn.requests.length).toBe(1);
  const { sql } = service.context.database;
  // After two lease periods no other worker has claimed it.
  const unclaimed = () => sql`
      select attempts, crashes from queue where attempts > 0 and now() > queued_at + interval '12 s'`;
  await expect.poll(unclaimed).toEqual([{ attempts: 1, crashes: 0 }]);
  expect(standIn.requests).toHaveLength(1);
  standIn.behaviour = 'normal';
  standIn.carts.set('o-1', withCart.cart);
  await Promise.all([first.kill(), second.kill()]);
  await using next = await startProcess(service);
  const orders = () => sql`select status from orders`;
  // The events of a killed worker are due again after one lease period at the latest.
  await expect.poll(orders).toEqual([{ status: 'B' }]);
  expect(await next.stop()).toBe(0);
});

test('many challenges of one payment use at most two requests to its provider, so that other customers are served', async () => {
  await using service = await startService({ work: false, variables: { PROVIDER_TIMEOUT_MS: '600000' } });
  const store = await service.store({ payments: { kind: 'threedsecureio', baseUrl: standIn.url } });
  for (const transactionId of ['t-many', 't-other']) {
    const payment = { service: 'threedsecureio', transactionId, orderId: 'o-1' };
    await service.admin('POST', `/v1/stores/${store.id}/payments`, payment);
  }
  const send = async (transactionId: string, threeDSServerTransID: string) => {
    const cres = Buffer.from(JSON.stringify({ threeDSServerTransID })).toString('base64url');
    const result = { service: 'threedsecureio', cres, transactionId };
    const answer = await service.hook('payment-auth-completed/threedsecureio', store.webhookToken, result);
    return answer.headers.get('location') ?? '';
  };
  standIn.behaviour = 'hang';
  const failures: string[] = [];
  const challenges = Array.from({ length: 40 }, async (_, at) => {
    failures.push(await send('t-many', `invented-${at}`));
  });
  await expect.poll(() => failures.length + standIn.requests.length).toBe(40);
  standIn.behaviour = 'normal';
  standIn.results.set('c-1', { transStatus: 'Y', authenticationValue: 'cavv', eci: '05' });
  expect(await send('t-other', 'c-1')).toContain('/success?');
  expect(standIn.requests).toHaveLength(3);
  for (const failure of failures) expect(failure).toContain('/failure?');
  standIn.release();
  await Promise.all(challenges);
  // The payment may be requested again.
  await send('t-many', 'invented-40');
  expect(standIn.requests).toHaveLength(4);
});

const input = { name: 'Corner shop', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } };

test('a store whose commit takes longer than the deadline of its request is reported as created and as changed', async () => {
  await using service = await startService({ work: false, variables: { REQUEST_DEADLINE_MS: '2000' } });
  const { sql } = service.context.database;
  await sql`
    create function slow_commit() returns trigger language plpgsql as $$
    begin perform pg_sleep(3); return null; end $$`;
  await sql`
    create constraint trigger slow_commit after insert or update on stores deferrable initially deferred
    for each row execute function slow_commit()`;
  const created = await service.admin('POST', '/v1/stores', input);
  expect(created).toMatchObject({ status: 201, body: { name: 'Corner shop' } });
  const changed = await service.admin('PATCH', `/v1/stores/${created.body['id'] as unknown as string}`, {
    name: 'Other',
  });
  expect(changed).toMatchObject({ status: 200, body: { name: 'Other', clearedCredentials: [] } });
});
