import { expect, test } from 'vitest';
import type { Payment } from './domain.ts';
import { createPaymentLimit, createUnsettledLimit } from './limits.ts';

const MiB = 2 ** 20;

test('per day, bodies of 1 MiB are stored for a network, and of 20 MiB for a store', async () => {
  const limit = createUnsettledLimit(undefined);
  const begin = (network: string) => limit.begin('store', network, MiB + 1024);
  /** Whether an event may be stored; the event settles a payment, so it does not count. */
  const isStored = (network: string): boolean => {
    const begun = begin(network);
    begun?.end(true);
    return begun !== undefined;
  };
  begin('a')?.end(false);
  await expect.poll(() => isStored('a')).toBe(false);
  expect(isStored('b')).toBe(true);
  for (let other = 0; other < 19; other += 1) begin(`b${other}`)?.end(false);
  await expect.poll(() => isStored('c')).toBe(false);
  expect(limit.begin('other store', 'c', MiB)).toBeDefined();
});

test('an event that settles a payment does not count', () => {
  const limit = createUnsettledLimit(undefined);
  for (let time = 0; time < 30; time += 1) {
    const begun = limit.begin('store', 'a', MiB);
    expect(begun).toBeDefined();
    begun?.end(true);
  }
});

const payment = { storeId: 's', service: 'adyen', transactionId: 't' } as Payment;

test('if two instances receive one event each, both retry the older one', () => {
  const [first, second] = [createPaymentLimit(), createPaymentLimit()];
  // Each retries the event that it received.
  expect([first.isRetried(payment, 'event-1'), second.isRetried(payment, 'event-2')]).toEqual([true, true]);
  // Their workers claim both.
  expect([first, second].map((limit) => limit.isRetried(payment, 'event-2'))).toEqual([false, true]);
  expect([first, second].map((limit) => limit.isRetried(payment, 'event-1'))).toEqual([true, true]);
  expect([first, second].map((limit) => limit.isRetried(payment, 'event-2'))).toEqual([false, false]);
});

test('a provider gets at most ten requests per minute for one payment, and other payments are not affected', async () => {
  const limit = createPaymentLimit();
  const ask = (target = payment) => limit.run(target, () => Promise.resolve('asked'));
  for (let time = 0; time < 10; time += 1) expect(await ask()).toBe('asked');
  await expect(ask()).rejects.toThrow('too many requests of this payment in a minute');
  expect(await ask({ ...payment, transactionId: 'other' })).toBe('asked');
});

test('once the retried event is finished, the next one is retried', () => {
  const limit = createPaymentLimit();
  limit.isRetried(payment, 'event-1');
  limit.forget(payment, 'event-1');
  expect(limit.isRetried(payment, 'event-2')).toBe(true);
});
