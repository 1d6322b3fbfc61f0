import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

test('where the browser keeps no site data, the choice of the time zone lasts as long as the page', async () => {
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
