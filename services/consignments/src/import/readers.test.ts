import { expect, test } from 'vitest';
import { createReaders } from './readers.ts';

const tooMany = expect.objectContaining({ code: 'too_many_downloads' }) as Error;

test('a caller reads two results at the same time, all callers ten', () => {
  const readers = createReaders();
  for (const caller of ['a', 'b', 'c', 'd']) {
    readers.begin(caller);
    readers.begin(caller);
  }
  expect(() => readers.begin('a')).toThrow(tooMany);
  for (const caller of ['e', 'f']) readers.begin(caller);
  expect(() => readers.begin('g')).toThrow(tooMany);
  readers.end('a');
  readers.begin('g');
});
