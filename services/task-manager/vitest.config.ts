import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'task-manager',
    globalSetup: ['@platform/local/test-setup'],
    // Real databases and real hashes: on a machine with other work they may take a while.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    include: ['{src,test}/**/*.test.ts'],
  },
});
