import { expect, test } from 'vitest';
import { startTestRedis } from '@platform/service-kit/testing/test-redis';
import { createAddressLimit, type AddressLimit } from './address-limit.ts';

/** Sends 50 requests and returns how many pass; the others must be 429 with Retry-After. */
const countPassed = async (limit: AddressLimit, clientAt: (index: number) => Parameters<AddressLimit>[0]) => {
  const results = await Promise.allSettled(Array.from({ length: 50 }, (_, index) => limit(clientAt(index))));
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    expect(result.reason).toMatchObject({ status: 429 });
    expect(Number(result.reason.headers['Retry-After'])).toBeGreaterThan(0);
  }
  return results.filter(({ status }) => status === 'fulfilled').length;
};

const emailAt = (index: number) => `user-${index}@example.test`;

test.for(['Redis', 'memory'] as const)('a network and an email are limited in %s', async (store) => {
  const redis = store === 'Redis' ? await (await startTestRedis()).connect() : undefined;
  const limit = createAddressLimit({ name: 'test', purpose: 'register', redis, perNetwork: 20 });
  const fromOneNetwork = (index: number) => ({ email: emailAt(index), address: `2001:db8::${index}` });
  expect(await countPassed(limit, fromOneNetwork)).toBe(20);
  const ofOneEmail = (index: number) => ({ email: 'ann@example.test', address: `192.0.2.${index}` });
  expect(await countPassed(limit, ofOneEmail)).toBe(10);
  const keys = (await redis?.keys('*')) ?? [];
  expect(keys.join()).not.toMatch(/ann|example/);
});

test('an IPv6 /64 has the limit of a network; all /64 of one /56 share four times the limit, those of one /48 sixteen times', async () => {
  const limit = createAddressLimit({ name: 'test', purpose: 'register', redis: undefined, perNetwork: 2 });
  const from = (addressAt: (index: number) => string) => (index: number) => ({
    email: emailAt(index),
    address: addressAt(index),
  });
  const hex = (index: number) => index.toString(16);
  expect(
    await countPassed(
      limit,
      from((index) => `2001:db8:1:200::${hex(index)}`),
    ),
  ).toBe(2);
  expect(
    await countPassed(
      limit,
      from((index) => `2001:db8:1:2${hex(16 + index)}::1`),
    ),
  ).toBe(6);
  expect(
    await countPassed(
      limit,
      from((index) => `2001:db8:2:${hex(1 + index)}00::1`),
    ),
  ).toBe(32);
});

test('the limits hold while Redis is down', async () => {
  const { server, connect } = await startTestRedis();
  const redis = await connect();
  const limit = createAddressLimit({ name: 'test', purpose: 'register', redis, perNetwork: 20 });
  await server.kill9();
  await expect.poll(() => redis.status).not.toBe('ready');
  expect(await countPassed(limit, (index) => ({ email: emailAt(index), address: '192.0.2.1' }))).toBe(20);
});
