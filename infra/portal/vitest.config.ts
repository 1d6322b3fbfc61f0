import { testLimits } from '@platform/local/test-limits';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'portal',
    globalSetup: ['@platform/local/test-setup', './test/test-setup.ts'],
    ...testLimits,
  },
});
