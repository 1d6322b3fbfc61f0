import { testLimits } from '@platform/local/test-limits';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'new',
    globalSetup: ['@platform/local/test-setup'],
    include: ['test/*.test.ts'],
    ...testLimits,
    // Each test runs many tools one after the other.
    testTimeout: 900_000,
  },
});
