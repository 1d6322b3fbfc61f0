import { expect, test } from 'vitest';
import { Refused } from './session.ts';
import { bytes, duration, errorText, guideAddress } from './text.ts';

test('an error of the program is not shown as a network error', () => {
  const response: { page?: { number: number } } = {};
  let programError: unknown;
  try {
    void (response.page as { number: number }).number;
  } catch (error) {
    programError = error;
  }
  expect(programError).toBeInstanceOf(TypeError);
  expect(errorText(programError)).toMatch(/^The page could not show this: .*undefined/);
});

test('an error response is shown with its own text', () => {
  expect(errorText(new Refused(503, { detail: 'The database is unavailable.', requestId: 'r-1' }))).toBe(
    'The database is unavailable. · Request r-1',
  );
});

test('durations, sizes and addresses of guides are formatted', () => {
  expect([59, 61, 7200, 200_000].map(duration)).toEqual(['59 s', '1 min', '2 h', '2 days']);
  expect([0, 999, 1200, 3_400_000].map(bytes)).toEqual(['0 B', '999 B', '1.2 kB', '3.4 MB']);
  expect(guideAddress('docs/deploy.md#logs')).toBe('/docs/guides/deploy/#logs');
});
