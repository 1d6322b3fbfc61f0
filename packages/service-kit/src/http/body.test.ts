import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nestsDeeperThan } from './body.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('measures the depth of any JSON document', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(6), (value, limit) => {
      expect(nestsDeeperThan(limit, Buffer.from(JSON.stringify(value)))).toBe(depthOf(value) > limit);
    }),
  );
});

test('does not count escaped quotes and brackets in strings', () => {
  expect(nestsDeeperThan(1, Buffer.from(String.raw`["[[\"[[\\"]`))).toBe(false);
});
