import { expect, test } from 'vitest';
import { createByteGate } from './byte-gate.ts';

test('work runs side by side up to the capacity, larger work alone, in order, and after failures', async () => {
  const gate = createByteGate(10);
  const begun: string[] = [];
  const start = (name: string, bytes: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const result = gate.run(bytes, () => (begun.push(name), promise));
    return { result, end: () => resolve(name), fail: () => reject(new Error(name)) };
  };
  const [a, b, big, small] = [start('a', 4), start('b', 6), start('big', 99), start('small', 1)];
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b']);
  a.end();
  expect(await a.result).toBe('a');
  expect(begun).toEqual(['a', 'b']);
  b.fail();
  await expect(b.result).rejects.toThrow('b');
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b', 'big']);
  big.end();
  await big.result;
  small.end();
  expect(await small.result).toBe('small');
});
