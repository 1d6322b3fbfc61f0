import { expect, test } from 'vitest';
import { isPublicAddress } from './outbound.ts';

test('public addresses are distinguished from special-purpose ones', () => {
  expect(['8.8.8.8', '2606:4700::1111'].map((address) => isPublicAddress(address))).toEqual([true, true]);
  for (const address of [
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    'fd00::1',
    'fe80::1',
    '0.0.0.0',
    '::',
    '::127.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    'fec0::1',
  ])
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
});
