import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Some tests start and kill real servers, which takes long on a busy machine.
    testTimeout: 30_000,
    name: 'store-webhooks',
    globalSetup: ['@platform/local/test-setup'],
    include: ['{src,test}/**/*.test.ts'],
  },
});
