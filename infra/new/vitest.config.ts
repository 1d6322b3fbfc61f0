import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'new',
    globalSetup: ['@platform/local/test-setup'],
    include: ['test/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
