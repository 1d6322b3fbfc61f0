import { expect, test, vi } from 'vitest';
import { StoreBody } from './schema.ts';

test('a store address that is too long or not ASCII is refused without parsing it, because parsing many combining marks is slow', () => {
  const canParse = vi.fn(() => false);
  const parse = vi.fn();
  vi.stubGlobal(
    'URL',
    class {
      static canParse = canParse;
      constructor() {
        parse();
      }
    },
  );
  try {
    for (const host of [`a${'\u0300'.repeat(24_000)}`, 'zürich.example.test', 'a'.repeat(500)]) {
      const { error } = StoreBody.pick({ storeUrl: true }).safeParse({ storeUrl: `https://${host}/` });
      expect(error?.issues.map(({ path }) => path)).toEqual([['storeUrl']]);
    }
  } finally {
    vi.unstubAllGlobals();
  }
  expect([canParse.mock.calls.length, parse.mock.calls.length]).toEqual([0, 0]);
});
