import { expect, test } from 'vitest';
import { oneAddress } from './address.ts';

test('one plain address is taken as it is', () => {
  expect(oneAddress('ann@example.test')).toBe('ann@example.test');
});

test.each([
  'ann@example.test, eve@example.test',
  'ann@example.test;eve@example.test',
  'Ann <ann@example.test>',
  '"ann, eve"@example.test',
  'ann@example.test\r\nBcc: eve@example.test',
  `${'a'.repeat(250)}@example.test`,
  'nobody',
  '',
  null,
  undefined,
])('what a mail library could read as another or several recipients is no address: %j', (value) => {
  expect(oneAddress(value)).toBeUndefined();
});
