import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'e2e',
    globalSetup: ['@platform/local/test-setup'],
    // A whole platform wants the machine for itself: after all other projects, not beside them.
    sequence: { groupOrder: 1 },
    testTimeout: 180_000,
  },
});
