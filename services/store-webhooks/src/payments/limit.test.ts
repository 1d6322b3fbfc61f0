import { expect, test } from 'vitest';
import type { Payment } from './domain.ts';
import { createPaymentLimit } from './limit.ts';

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
