import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'client',
    globalSetup: ['@platform/local/test-setup'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
