import { createOutboundThreads } from '@platform/service-kit/outbound-threads';
import { captureLog } from '@platform/service-kit/testing';
import { afterAll, expect, test } from 'vitest';
import { createReaders } from '../src/providers/reader.ts';
import * as square from './fixtures/square.ts';
import { startService } from './harness.ts';
import { startStandIn } from './simulate/stand-in.ts';

const standIn = await startStandIn();
const outbound = createOutboundThreads(captureLog().log);
afterAll(() => outbound[Symbol.asyncDispose]());
const reader = createReaders({ outbound, timeoutMs: 5000, addresses: 'any' })('store');
const baseUrls: (string | undefined)[] = [];
const service = await startService({
  overrides: {
    // Requests to the address of Square go to the stand-in.
    readerOf: () => ({
      ...reader,
      get: (settings, ...request) => {
        baseUrls.push(settings.baseUrl);
        return reader.get({ ...settings, baseUrl: standIn.url }, ...request);
      },
    }),
  },
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

const order = (id: string) => ({
  id,
  status: 'A',
  cart: { total: 1250.5, items: [{ productId: 'p', quantity: 2, price: 625.25 }] },
});
const orderOf = async (store: { id: string }, id: string) =>
  (await service.admin('GET', `/v1/stores/${store.id}/orders/${id}`)).body;

test('a payload without a currency gets that of the store; a change of it does not affect stored orders', async () => {
  const store = await service.store({ currency: 'BHD' });
  await service.hook('order_updated', store.webhookToken, order('first'));
  await service.settled();
  const first = await orderOf(store, 'first');
  expect(first).toMatchObject({ currency: 'BHD', cart: { total: 1250.5, items: [{ price: 625.25 }] } });
  const { sql } = service.context.database;
  const minor = () => sql`select details from orders where store_id = ${store.id} and id = 'first'`;
  const stored = await minor();
  expect(stored).toMatchObject([{ details: { amounts: { total: 1_250_500 } } }]);

  const changed = await service.admin('PATCH', `/v1/stores/${store.id}`, { currency: 'JPY' });
  expect(changed).toMatchObject({ status: 200, body: { currency: 'JPY' } });
  expect([await orderOf(store, 'first'), await minor()]).toEqual([first, stored]);
  let sent = 0;
  // An instance knows the new settings within a second.
  const next = async () => {
    const id = `later-${sent++}`;
    await service.hook('order_updated', store.webhookToken, order(id));
    await service.settled();
    return orderOf(store, id);
  };
  await expect.poll(next).toMatchObject({ currency: 'JPY', cart: { total: 1251 } });
});

test('a currency in the payload takes precedence over that of the store', async () => {
  const mapping = { order: { currency: '/currency', total: '/total' } };
  const store = await service.store({ currency: 'CHF', pos: { kind: 'generic', mapping } });
  const send = (id: string, currency?: string | null) =>
    service.hook('order_updated', store.webhookToken, { id, status: 'A', total: '12.5', currency });
  await send('named', 'JPY');
  await send('absent');
  await send('empty', null);
  await send('wrong', 'yen');
  await service.settled();
  const currencies = ['named', 'absent', 'empty'].map(async (id) => (await orderOf(store, id))['currency']);
  expect(await Promise.all(currencies)).toEqual(['JPY', 'CHF', 'CHF']);
  expect((await orderOf(store, 'wrong'))['status']).toBe(404);
});

test('a new store has US dollars, and only the code of a currency is accepted', async () => {
  const store = await service.store();
  const path = `/v1/stores/${store.id}`;
  expect((await service.admin('GET', path)).body['currency']).toBe('USD');
  for (const currency of ['eur', 'EURO', 'XQQ', 'E\0R', '', 7, null]) {
    const { status, body } = await service.admin('PATCH', path, { currency });
    expect([currency, status, Object.keys(body['errors'] ?? {})]).toEqual([currency, 400, ['currency']]);
  }
  expect((await service.admin('GET', path)).body['currency']).toBe('USD');
});

test('members and orders of Square are read from its own address, and get the currency of the store if Square sends none', async () => {
  const store = await service.store({
    currency: 'EUR',
    customerImportsEnabled: true,
    pos: { kind: 'square', credentials: { accessToken: 't' } },
  });
  const { customer } = square.customerUpdated.data.object;
  standIn.customers.set(customer.id, { customer: { ...customer, given_name: 'Current', version: 9 } });
  await service.hook('new_member', store.webhookToken, square.customerUpdated);
  await service.settled();
  const users = async () =>
    (await service.admin('GET', `/v1/stores/${store.id}/users`)).body['users'] as unknown;
  expect(await users()).toMatchObject([{ consumerUserId: customer.id, firstName: 'Current' }]);
  // The profile of an existing user is refreshed from there.
  standIn.customers.set(customer.id, { customer: { ...customer, given_name: 'Newest', version: 10 } });
  await service.hook('new_member', store.webhookToken, { ...square.customerUpdated, event_id: 'again' });
  await service.settled();
  expect(await users()).toMatchObject([{ firstName: 'Newest' }]);

  const { total_money: _, ...withoutTotal } = square.orderAnswer.order;
  standIn.orders.set(withoutTotal.id, { order: { ...withoutTotal, line_items: [] } });
  await service.hook('order_updated', store.webhookToken, square.orderUpdated);
  await service.settled();
  expect((await orderOf(store, withoutTotal.id))['currency']).toBe('EUR');
  expect(new Set(baseUrls)).toEqual(new Set(['https://connect.squareup.com']));
});
