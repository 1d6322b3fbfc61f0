import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'e2e',
    globalSetup: ['@platform/local/test-setup'],
    testTimeout: 180_000,
  },
});
