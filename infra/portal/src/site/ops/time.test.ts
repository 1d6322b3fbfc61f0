import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

test('when the browser blocks storage, the selected time zone is kept until the page is left', async () => {
  const blocked = () => {
    throw new DOMException('Access is denied for this document.', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: blocked, setItem: blocked });
  vi.resetModules();
  const { fieldValue, switchZone, zoneName } = await import('./time.ts');
  switchZone();
  expect(zoneName()).toBe('UTC');
  expect(fieldValue('2020-01-01T12:34:56.000Z')).toBe('2020-01-01T12:34');
});
