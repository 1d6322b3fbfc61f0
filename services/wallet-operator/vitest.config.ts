import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'wallet-operator',
    globalSetup: ['@platform/local/test-setup'],
    // A busy machine is no reason to fail: nothing here asserts how long something takes.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    include: ['{src,test}/**/*.test.ts'],
  },
});
