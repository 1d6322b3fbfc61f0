import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'portal',
    globalSetup: ['@platform/local/test-setup', './test/test-setup.ts'],
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
