import { expect, test } from 'vitest';
import { patchChanges, requireVersion, versionFieldOf } from './versions.ts';

const record = { name: 'Ada', tags: ['a', 'b'], due: null, address: { city: 'Tartu', zip: null } };

test.each([
  {},
  { name: 'Ada' },
  { tags: ['a', 'b'] },
  { due: null },
  { absent: null },
  { address: {} },
  { address: { city: 'Tartu', zip: null, street: null } },
])('a merge patch with the current values of a record changes nothing: %j', (patch) => {
  expect(patchChanges(record, patch)).toBe(false);
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
])('a merge patch with another value is a change: %j', (patch) => {
  expect(patchChanges(record, patch)).toBe(true);
});

test('the field version is the version of a record; computed fields change the ETag, but not the part that If-Match compares', () => {
  const view = { version: 7, name: 'Ada', balance: 1 };
  expect(versionFieldOf(JSON.stringify(view))).toBe('7');
  const [before, after] = [1, 2].map((balance) =>
    versionFieldOf(JSON.stringify({ ...view, balance }), ['balance']),
  );
  expect(before).not.toBe(after);
  for (const expected of ['7', before ?? '']) {
    expect(() => requireVersion([expected], after ?? '', 'player')).not.toThrow();
    expect(() => requireVersion([expected], '8~x', 'player')).toThrow('another version');
  }
});
