import { expect, test } from 'vitest';
import { oneAddress } from './address.ts';

test('one plain address is accepted unchanged', () => {
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
])('text that a mail library could read as other or several recipients is rejected: %j', (value) => {
  expect(oneAddress(value)).toBeUndefined();
});
