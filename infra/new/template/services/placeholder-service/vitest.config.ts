import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'placeholder-service',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['@platform/local/test-setup'],
    include: ['{src,test}/**/*.test.ts'],
  },
});
