import { expect, test } from 'vitest';
import { changes } from './versions.ts';

const record = { name: 'Ada', tags: ['a', 'b'], due: null, address: { city: 'Tartu', zip: null } };

test.each([
  {},
  { name: 'Ada' },
  { tags: ['a', 'b'] },
  { due: null },
  { absent: null },
  { address: {} },
  { address: { city: 'Tartu', zip: null, street: null } },
])('a merge patch of values that a record has changes nothing: %j', (patch) => {
  expect(changes(record, patch)).toBe(false);
});

test.each([
  { name: 'Eve' },
  { name: null },
  { tags: ['b', 'a'] },
  { tags: null },
  { due: '2026-01-01' },
  { absent: 1 },
  { address: null },
  { address: { zip: '51003' } },
  { name: 'Ada', address: { city: null } },
])('a merge patch of another value is a change: %j', (patch) => {
  expect(changes(record, patch)).toBe(true);
});
