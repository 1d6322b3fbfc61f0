import { afterAll, beforeEach, expect, test } from 'vitest';
import { ProviderBusy } from '../src/providers/exchange.ts';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';
import { startStandIn } from './simulate/stand-in.ts';

const standIn = await startStandIn();
afterAll(() => standIn[Symbol.asyncDispose]());
beforeEach(() => {
  standIn.behaviour = 'normal';
  standIn.asked.length = 0;
});

/** The POS is asked for the cart of an order that comes without one. */
const order = (id: string, more: object = {}) => ({ id, publicKey: id, status: 'A', ...more });
const complete = { cart: { items: [] } };
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
  await expect.poll(() => standIn.asked.length).toBeGreaterThan(0);
  await service.hook('order_updated', other.webhookToken, order('o-1', complete));
  const { sql } = service.context.database;
  await expect.poll(() => sql`select id from orders`, { timeout: 15_000 }).toEqual([{ id: 'o-1' }]);
  standIn.behaviour = 'normal';
  standIn.release();
});

test('an attempt for which the provider was not asked does not count', async () => {
  let refusals = 30;
  const reader = {
    get: () => {
      if (refusals-- > 0) return Promise.reject(new ProviderBusy('is not asked for a while', 1, 'open'));
      return Promise.resolve({ items: [] });
    },
    ask: () => Promise.reject(new Error('not used')),
  };
  await using service = await startService({ overrides: { reader } });
  const { webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url, credentials } });
  await service.hook('order_updated', webhookToken, order('o-1'));
  await service.settled();
  const { sql } = service.context.database;
  expect(await sql`select state, attempts from inbox`).toEqual([{ state: 'done', attempts: 1 }]);
});

test(
  'an event that takes longer than a lease is processed once, and leases of a killed process end soon',
  { timeout: 90_000 },
  async () => {
    await using service = await startService({ work: false });
    const { webhookToken } = await service.store({
      pos: { kind: 'blaze', baseUrl: standIn.url, credentials },
    });
    standIn.behaviour = 'hang';
    const settings = { PROVIDER_TIMEOUT_MS: '600000' };
    await using first = await startProcess(service, settings);
    await using second = await startProcess(service, settings);
    for (const status of ['A', 'B'])
      await service.hook('order_updated', webhookToken, order('o-1', { status }));
    await expect.poll(() => standIn.asked.length, { timeout: 10_000 }).toBe(1);
    const { sql } = service.context.database;
    const [claimed] = await sql`select due_at from inbox where attempts = 1`;
    // Renewed more often than a lease lasts; nobody else has claimed it.
    const renewed = () =>
      sql`select attempts from inbox where attempts > 0 and due_at > ${claimed?.['due_at']}::timestamptz + interval '6 s'`;
    await expect.poll(renewed, { timeout: 20_000 }).toEqual([{ attempts: 1 }]);
    expect(standIn.asked).toHaveLength(1);
    standIn.behaviour = 'normal';
    standIn.carts.set('o-1', complete.cart);
    await Promise.all([first.kill(), second.kill()]);
    await using next = await startProcess(service);
    const orders = () => sql`select status from orders`;
    // Without a renewed lease of a few seconds this would take a minute.
    await expect.poll(orders, { timeout: 15_000 }).toEqual([{ status: 'B' }]);
    expect(await next.stop()).toBe(0);
  },
);
