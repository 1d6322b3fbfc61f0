import { expect, test } from 'vitest';
import type { Payment } from './domain.ts';
import { createPaymentLimit, createUnsettledLimit } from './limits.ts';

const MiB = 2 ** 20;

test('of a network, bodies of a MiB are stored in a day, and of a store twenty', async () => {
  const limit = createUnsettledLimit(undefined);
  const begin = (network: string) => limit.begin('store', network, MiB + 1024);
  /** Begins one that does not count. */
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

test('what settles a payment does not count', () => {
  const limit = createUnsettledLimit(undefined);
  for (let time = 0; time < 30; time += 1) {
    const begun = limit.begin('store', 'a', MiB);
    expect(begun).toBeDefined();
    begun?.end(true);
  }
});

const payment = { storeId: 's', service: 'adyen', transactionId: 't' } as Payment;

test('two instances that received one event each retry the older one, and not none', () => {
  const [one, other] = [createPaymentLimit(), createPaymentLimit()];
  // Each retries the event that it received.
  expect([one.isRetried(payment, 'event-1'), other.isRetried(payment, 'event-2')]).toEqual([true, true]);
  // Their workers claim both.
  expect([one, other].map((limit) => limit.isRetried(payment, 'event-2'))).toEqual([false, true]);
  expect([one, other].map((limit) => limit.isRetried(payment, 'event-1'))).toEqual([true, true]);
  expect([one, other].map((limit) => limit.isRetried(payment, 'event-2'))).toEqual([false, false]);
});

test('a provider is asked for a payment ten times in a minute at most, for others all the same', async () => {
  const limit = createPaymentLimit();
  const ask = (of = payment) => limit.run(of, () => Promise.resolve('asked'));
  for (let time = 0; time < 10; time += 1) expect(await ask()).toBe('asked');
  await expect(ask()).rejects.toThrow('too many requests of this payment in a minute');
  expect(await ask({ ...payment, transactionId: 'other' })).toBe('asked');
});

test('when the event that was retried is over, the next one is retried', () => {
  const limit = createPaymentLimit();
  limit.isRetried(payment, 'event-1');
  limit.forget(payment, 'event-1');
  expect(limit.isRetried(payment, 'event-2')).toBe(true);
});
