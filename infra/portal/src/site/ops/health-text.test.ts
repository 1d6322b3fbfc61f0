import { expect, test } from 'vitest';
import { bytes, duration, guideAddress } from './health-text.ts';

test('spans, amounts and addresses of guides', () => {
  expect([59, 61, 7200, 200_000].map(duration)).toEqual(['59 s', '1 min', '2 h', '2 days']);
  expect([0, 999, 1200, 3_400_000].map(bytes)).toEqual(['0 B', '999 B', '1.2 kB', '3.4 MB']);
  expect(guideAddress('docs/deploy.md#logs')).toBe('/docs/guides/deploy/#logs');
});
