import { expect, test } from 'vitest';
import { findDifferences } from '../src/actor.ts';

test('a record that is missing or differs from what was acknowledged is found', () => {
  const acknowledged = new Map([
    ['same', { status: 1 }],
    ['changed', { status: 2 }],
    ['lost', { status: 3 }],
  ]);
  const found = new Map([
    ['same', { status: 1 }],
    ['changed', { status: 4 }],
    ['never acknowledged', { status: 5 }],
  ]);
  expect(findDifferences('task', acknowledged, found)).toEqual([
    'task changed is {"status":4} instead of {"status":2}',
    'task lost is gone instead of {"status":3}',
  ]);
});
