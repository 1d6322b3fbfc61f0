import { expect, test } from 'vitest';
import { startTestRedis } from '@platform/service-kit/testing/test-redis';
import { createAddressLimit, type AddressLimit } from './address-limit.ts';

/** How many of the registrations pass; the others must be 429 with Retry-After. */
const passed = async (limit: AddressLimit, who: (at: number) => Parameters<AddressLimit>[0]) => {
  const results = await Promise.allSettled(Array.from({ length: 50 }, (_, at) => limit(who(at))));
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    expect(result.reason).toMatchObject({ status: 429 });
    expect(Number(result.reason.headers['Retry-After'])).toBeGreaterThan(0);
  }
  return results.filter(({ status }) => status === 'fulfilled').length;
};

const emailOf = (at: number) => `user-${at}@example.test`;

test.for(['Redis', 'memory'] as const)('a network and an email are limited in %s', async (where) => {
  const redis = where === 'Redis' ? await (await startTestRedis()).connect() : undefined;
  const limit = createAddressLimit({ name: 'test', purpose: 'register', redis, perNetwork: 20 });
  const fromOneNetwork = (at: number) => ({ email: emailOf(at), address: `2001:db8::${at}` });
  expect(await passed(limit, fromOneNetwork)).toBe(20);
  const ofOneEmail = (at: number) => ({ email: 'ann@example.test', address: `192.0.2.${at}` });
  expect(await passed(limit, ofOneEmail)).toBe(10);
  const keys = (await redis?.keys('*')) ?? [];
  expect(keys.join()).not.toMatch(/ann|example/);
});

test('a flood from one IPv6 /64 uses up its own limit; many of them in one /56 or /48 have four and sixteen times as much', async () => {
  const limit = createAddressLimit({ name: 'test', purpose: 'register', redis: undefined, perNetwork: 2 });
  const from = (addressAt: (at: number) => string) => (at: number) => ({
    email: emailOf(at),
    address: addressAt(at),
  });
  const hex = (at: number) => at.toString(16);
  expect(
    await passed(
      limit,
      from((at) => `2001:db8:1:200::${hex(at)}`),
    ),
  ).toBe(2);
  expect(
    await passed(
      limit,
      from((at) => `2001:db8:1:2${hex(16 + at)}::1`),
    ),
  ).toBe(6);
  expect(
    await passed(
      limit,
      from((at) => `2001:db8:2:${hex(1 + at)}00::1`),
    ),
  ).toBe(32);
});

test('the limits hold while Redis is down', async () => {
  const { server, connect } = await startTestRedis();
  const redis = await connect();
  const limit = createAddressLimit({ name: 'test', purpose: 'register', redis, perNetwork: 20 });
  await server.kill9();
  await expect.poll(() => redis.status).not.toBe('ready');
  expect(await passed(limit, (at) => ({ email: emailOf(at), address: '192.0.2.1' }))).toBe(20);
});
