import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import proxyAddr from 'proxy-addr';
import { expect, test } from 'vitest';
import { serve } from '../testing/server.ts';
import { behindGateway, createClientAddress, networkOf, networksOf } from './network.ts';

test('a client counts for its IPv4 address or its IPv6 /64', () => {
  expect(networkOf('::ffff:192.0.2.9')).toBe(networkOf('192.0.2.9'));
  expect(networkOf('192.0.2.9')).not.toBe(networkOf('192.0.2.10'));
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  expect(networkOf('fe80::1%eth0')).toBe('fe80::/64');
  for (const text of [undefined, '', 'localhost', '0300.1.1.1', '192.0.2', '::192.0.2.1']) {
    expect(networkOf(text)).toBe('unknown');
  }
});

test('two IPv6 addresses share a network exactly when their first 64 bits are the same', () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
  const eight = fc.array(group, { minLength: 8, maxLength: 8 });
  const spell = (groups: number[]) => groups.map((value) => value.toString(16)).join(':');
  fc.assert(
    fc.property(eight, eight, (left, right) => {
      fc.pre(isIPv6(spell(left)) && left.slice(0, 5).some((value) => value !== 0));
      expect(networkOf(spell(left))).toBe(networkOf(spell([...left.slice(0, 4), ...right.slice(4)])));
      const same = left.slice(0, 4).join() === right.slice(0, 4).join();
      expect(networkOf(spell(left)) === networkOf(spell(right))).toBe(same);
    }),
  );
});

test('an IPv6 address counts for its /64, /56 and /48 with growing limits, and an IPv4 address for itself', () => {
  expect(networksOf('2001:db8:1:23ff:3:4:5:6')).toEqual([
    { name: '2001:db8:1:23ff::/64', factor: 1 },
    { name: '2001:db8:1:2300::/56', factor: 4 },
    { name: '2001:db8:1::/48', factor: 16 },
  ]);
  expect(networksOf('::ffff:192.0.2.9')).toEqual([{ name: '192.0.2.9', factor: 1 }]);
  expect(networksOf(undefined)).toEqual([{ name: 'unknown', factor: 1 }]);
});

test('an IPv4 host counts for itself behind NAT64 too, and networks outside the NAT64 prefix count as IPv6', () => {
  fc.assert(
    fc.property(fc.ipV4(), (host) => {
      expect(networksOf(`64:ff9b::${host}`)).toEqual([{ name: host, factor: 1 }]);
    }),
  );
  expect(networkOf('64:ff9b::c000:209')).toBe('192.0.2.9');
  expect(networkOf('64:ff9b:0:0:0:1:c000:209')).toBe('64:ff9b::/64');
  expect(networkOf('64:ff9b:1::192.0.2.9')).toBe('64:ff9b:1::/64');
});

test('the client address equals that of proxy-addr for any number of hops', () => {
  const trusted = ['127.0.0.1', '10.0.0.0/8'];
  const clientAddress = createClientAddress(trusted);
  const address = fc.oneof(fc.constantFrom('127.0.0.1', '10.1.2.3', 'unknown'), fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(address, fc.array(address), fc.constantFrom(',', ', '), (remoteAddress, hops, comma) => {
      const socket = { remoteAddress };
      const request = { headers: { 'x-forwarded-for': hops.join(comma) }, socket, connection: socket };
      const req = request as unknown as IncomingMessage;
      expect(clientAddress(req)).toBe(proxyAddr(req, trusted));
    }),
  );
});

const secret = 's'.repeat(64);
const forwarded = {
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'shop.example.test',
  'x-forwarded-proto': 'https',
};

/** Sends a request through `behindGateway` and returns the headers that the service sees. */
const headersSeen = async (headers: Record<string, string>, ...accepted: string[]) => {
  await using service = await serve(
    behindGateway((req, res) => void res.end(JSON.stringify(req.headers)), accepted),
  );
  return (await (await fetch(service.url, { headers })).json()) as Record<string, string>;
};

test('X-Forwarded headers of the gateway are kept, and its secret is removed', async () => {
  const headers = await headersSeen({ ...forwarded, 'x-gateway-secret': secret }, secret);
  expect(headers).toMatchObject(forwarded);
  expect(headers).not.toHaveProperty('x-gateway-secret');
});

test.each([
  ['without the secret', {}],
  ['with another secret', { 'x-gateway-secret': 't'.repeat(64) }],
  ['with an empty secret', { 'x-gateway-secret': '' }],
  ['with the start of the secret', { 'x-gateway-secret': 's'.repeat(63) }],
])('X-Forwarded headers of a caller %s are removed', async (_, header: Record<string, string>) => {
  const headers = await headersSeen({ ...forwarded, ...header }, secret);
  for (const name of [...Object.keys(forwarded), 'x-gateway-secret'])
    expect(headers).not.toHaveProperty(name);
});

test('during a rotation the old and the new secret are accepted, but no other part of the setting', async () => {
  const next = 'n'.repeat(64);
  for (const sent of [secret, next])
    expect(await headersSeen({ ...forwarded, 'x-gateway-secret': sent }, secret, next)).toMatchObject(
      forwarded,
    );
  for (const sent of [`${secret},${next}`, ',', next.slice(1)])
    expect(await headersSeen({ ...forwarded, 'x-gateway-secret': sent }, secret, next)).not.toHaveProperty(
      'x-forwarded-for',
    );
});

test('a service without a secret trusts no X-Forwarded header', async () => {
  const headers = await headersSeen({ ...forwarded, 'x-gateway-secret': 'undefined' });
  for (const name of Object.keys(forwarded)) expect(headers).not.toHaveProperty(name);
});
