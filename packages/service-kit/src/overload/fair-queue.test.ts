import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const takeAll = (queue: ReturnType<typeof createFairQueue<string>>): string[] =>
  Array.from({ length: queue.size }, () => queue.shift() ?? '');

test('groups take turns, then the groups in them, and items of one group keep their order', () => {
  const queue = createFairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.push(['office', 'ann'], item);
  queue.push(['office', 'bob'], 'b1');
  queue.push(['home', 'cid'], 'c1');
  queue.push(['home', 'cid'], 'c2');
  expect(takeAll(queue)).toEqual(['a1', 'c1', 'b1', 'c2', 'a2', 'a3']);
  expect(queue.shift()).toBeUndefined();
});

test('the newest item of the largest subgroup of the largest group is dropped', () => {
  const queue = createFairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.push(['office', 'ann'], item);
  queue.push(['office', 'bob'], 'b1');
  for (const item of ['c1', 'c2', 'c3']) queue.push(['home', 'cid'], item);
  expect([queue.dropLargest(), queue.dropLargest(), queue.dropLargest()]).toEqual(['a3', 'c3', 'a2']);
  expect(takeAll(queue)).toEqual(['a1', 'c1', 'b1', 'c2']);
  expect(queue.dropLargest()).toBeUndefined();
});

test('nothing is lost or taken twice, and no group gets two turns more than another waiting group', () => {
  const paths = fc.array(fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('p', 'q')), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(paths, (pushed) => {
      const queue = createFairQueue<string>();
      for (const [at, path] of pushed.entries()) queue.push(path, `${path.join()} ${at}`);
      const taken = takeAll(queue);
      expect(taken.toSorted()).toEqual(pushed.map((path, at) => `${path.join()} ${at}`).toSorted());
      const remaining = new Map(
        ['x', 'y', 'z'].map((name) => [name, pushed.filter(([group]) => group === name).length]),
      );
      const turns = new Map(['x', 'y', 'z'].map((name) => [name, 0]));
      for (const item of taken) {
        const name = item.slice(0, 1);
        const waiting = [...remaining]
          .filter(([, count]) => count > 0)
          .map(([group]) => turns.get(group) ?? 0);
        expect(turns.get(name)).toBe(Math.min(...waiting));
        turns.set(name, (turns.get(name) ?? 0) + 1);
        remaining.set(name, (remaining.get(name) ?? 0) - 1);
      }
    }),
  );
});

test('wouldDrop predicts what dropLargest does with a new item, and removed items are never returned', () => {
  const step = fc.record({
    path: fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('p', 'q')),
    operation: fc.constantFrom('push', 'push', 'shift', 'remove', 'predict'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = createFairQueue<string>();
      const waiting = new Map<string, [string, string]>();
      const mistakes: string[] = [];
      for (const [at, { path, operation }] of steps.entries()) {
        const item = `${path.join()} ${at}`;
        if (operation === 'push') {
          queue.push(path, item);
          waiting.set(item, path);
        } else if (operation === 'shift') waiting.delete(queue.shift() ?? '');
        else if (operation === 'predict') {
          const expected = queue.wouldDrop(path);
          queue.push(path, item);
          const dropped = queue.dropLargest() ?? '';
          if ((dropped === item) !== expected) mistakes.push(item);
          if (dropped !== item) {
            waiting.set(item, path);
            waiting.delete(dropped);
          }
        } else {
          const [first] = [...waiting].filter(([, itemPath]) => itemPath.join() === path.join());
          if (queue.remove(path, first?.[0] ?? 'none') !== (first !== undefined)) mistakes.push(item);
          waiting.delete(first?.[0] ?? '');
        }
        if (queue.size !== waiting.size) mistakes.push(item);
      }
      expect(mistakes).toEqual([]);
      expect(takeAll(queue).toSorted()).toEqual([...waiting.keys()].toSorted());
    }),
  );
});
