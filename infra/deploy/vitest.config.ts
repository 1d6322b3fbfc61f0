import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'deploy',
    globalSetup: ['@platform/local/test-setup'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
