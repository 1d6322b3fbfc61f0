import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'verify-projects',
    globalSetup: ['@platform/local/test-setup'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    include: ['{src,test}/**/*.test.ts'],
  },
});
