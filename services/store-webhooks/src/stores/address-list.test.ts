import { expect, test } from 'vitest';
import { createAddressList, isNetwork } from './address-list.ts';

test('an address is in the list when one of its networks contains it', () => {
  const allowed = createAddressList(['192.0.2.0/24', '198.51.100.7', '2001:db8:1::/48', '::1']);
  for (const inside of ['192.0.2.0', '192.0.2.255', '198.51.100.7', '2001:db8:1:ffff::1', '::1']) {
    expect([inside, allowed(inside)]).toEqual([inside, true]);
  }
  for (const outside of ['192.0.3.0', '198.51.100.8', '2001:db8:2::1', '::2', '127.0.0.1']) {
    expect([outside, allowed(outside)]).toEqual([outside, false]);
  }
});

test('all spellings of an IPv4 address are the same address, and so are those of a network', () => {
  const spellings = ['192.0.2.9', '::ffff:192.0.2.9', '::FFFF:c000:209', '0:0:0:0:0:ffff:c000:0209'];
  for (const network of ['192.0.2.0/28', '::ffff:192.0.2.0/124']) {
    const allowed = createAddressList([network]);
    expect(spellings.map((address) => allowed(address))).toEqual([true, true, true, true]);
    expect(['192.0.2.16', '::ffff:192.0.2.16', '::192.0.2.9'].map((address) => allowed(address))).toEqual([
      false,
      false,
      false,
    ]);
  }
});

test('an empty list matches nothing, and no list matches a text that is not an address', () => {
  expect(createAddressList([])('192.0.2.1')).toBe(false);
  const allowsAll = createAddressList(['0.0.0.0/0', '::/0']);
  expect(allowsAll('203.0.113.5')).toBe(true);
  for (const text of [
    undefined,
    '',
    'localhost',
    '192.0.2',
    '192.0.2.1, 192.0.2.2',
    '0300.1.1.1',
    '1.1.1.1/8',
  ]) {
    expect(allowsAll(text)).toBe(false);
  }
});

test.for([
  'fe80::1%eth0',
  '192.0.2.0/24/8',
  '192.0.2.0/33',
  '::/129',
  '192.0.2.0/',
  '192.0.2.0/08',
  '192.0.2/24',
  'x',
  '',
  '::ffff:1.2.3.4/95',
  '/8',
])('an entry that is not a network is refused, and the error names it: %s', (text) => {
  expect(isNetwork(text)).toBe(false);
  expect(() => createAddressList(['192.0.2.1', text])).toThrow(JSON.stringify(text));
});
