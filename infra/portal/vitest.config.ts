import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'portal',
    globalSetup: ['@platform/local/test-setup', './test/test-setup.ts'],
    // One browser at a time.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
