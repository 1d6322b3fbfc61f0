import { expect, test } from 'vitest';
import { Refused } from './session.ts';
import { errorText } from './text.ts';

test('a mistake of the program is not shown as a failure of the network', () => {
  const given: { page?: { number: number } } = {};
  let mistake: unknown;
  try {
    void (given.page as { number: number }).number;
  } catch (error) {
    mistake = error;
  }
  expect(mistake).toBeInstanceOf(TypeError);
  expect(errorText(mistake)).toMatch(/^The page could not show this: .*undefined/);
});

test('an error response is shown with its own text', () => {
  expect(errorText(new Refused(503, { detail: 'The database is unavailable.', requestId: 'r-1' }))).toBe(
    'The database is unavailable. · Request r-1',
  );
});
