import { expect, test } from 'vitest';
import { findDifferences } from '../src/actor.ts';

test('a record that is missing or differs from what was acknowledged is reported', () => {
  const acknowledged = new Map([
    ['same', { status: 1 }],
    ['changed', { status: 2 }],
    ['lost', { status: 3 }],
  ]);
  const stored = new Map([
    ['same', { status: 1 }],
    ['changed', { status: 4 }],
    ['never acknowledged', { status: 5 }],
  ]);
  expect(findDifferences('task', acknowledged, stored)).toEqual([
    'task changed is {"status":4} instead of {"status":2}',
    'task lost is missing instead of {"status":3}',
  ]);
});
