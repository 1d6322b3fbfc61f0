import { testLimits } from '@platform/local/test-limits';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'wallet-conformance',
    globalSetup: ['@platform/local/test-setup'],
    ...testLimits,
  },
});
