import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'consignments',
    globalSetup: ['@platform/local/test-setup'],
    // Some tests start servers of their own.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    include: ['{src,test}/**/*.test.ts'],
  },
});
