import { expect, test } from 'vitest';
import { createReaders } from './readers.ts';

const tooMany = expect.objectContaining({ code: 'too_many_downloads' }) as Error;

test('a caller reads two results at the same time, all callers ten', () => {
  const readers = createReaders();
  for (const caller of ['a', 'b', 'c', 'd', 'e']) {
    readers.begin(caller);
    if (caller !== 'e') readers.begin(caller);
    if (caller === 'a') expect(() => readers.begin(caller)).toThrow(tooMany);
  }
  readers.begin('f');
  expect(() => readers.begin('g')).toThrow(tooMany);
  readers.end('a');
  readers.begin('g');
});
