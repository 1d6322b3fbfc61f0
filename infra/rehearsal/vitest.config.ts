import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'rehearsal',
    globalSetup: ['@platform/local/test-setup'],
    testTimeout: 60_000,
  },
});
