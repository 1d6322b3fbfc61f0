import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashBytes, leafHash, merkleLevels, pathTo, rootByPath, rootOf } from './merkle.ts';
import { hash } from 'node:crypto';

/** The recursive definition of RFC 9162, section 2.1.1. */
const rootByDefinition = (leaves: Buffer[]): Buffer => {
  const [only] = leaves;
  if (leaves.length === 1 && only) return only;
  const half = 2 ** Math.floor(Math.log2(leaves.length - 1));
  const sides = [leaves.slice(0, half), leaves.slice(half)].map(rootByDefinition);
  return hash('sha256', Buffer.concat([Buffer.of(1), ...sides]), 'buffer');
};

const treeOf = (size: number) => {
  const leaves = Array.from({ length: size }, (_, at) => leafHash(`leaf ${at}`));
  return { leaves, levels: merkleLevels(Buffer.concat(leaves)) };
};

test.each(Array.from({ length: 70 }, (_, at) => at + 1))(
  'a tree of %i leaves has the root that RFC 9162 defines',
  (size) => {
    const { leaves, levels } = treeOf(size);
    expect(rootOf(levels)).toBe(rootByDefinition(leaves).toString('hex'));
  },
);

test('a path proves only its own leaf: another index, size, leaf or path gives another root', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 200 }), fc.nat(), fc.nat(), (size, draw, shift) => {
      const { leaves, levels } = treeOf(size);
      const at = draw % size;
      const wrong = (at + 1 + (shift % (size - 1))) % size;
      const leaf = leaves[at] ?? Buffer.alloc(0);
      const path = pathTo(levels, at);
      const root = rootOf(levels);
      expect(rootByPath(leaf, at, size, path)).toBe(root);
      expect(rootByPath(leaf, wrong, size, path)).not.toBe(root);
      expect(rootByPath(leaves[wrong] ?? leaf, at, size, path)).not.toBe(root);
      expect(rootByPath(leaf, at, size, path.slice(1))).not.toBe(root);
      expect(rootByPath(leaf, at, size, [...path, leaf.toString('hex')])).not.toBe(root);
      expect(rootByPath(leaf, at, size, [...path.slice(1), 'ab'.repeat(hashBytes)])).not.toBe(root);
    }),
  );
});
