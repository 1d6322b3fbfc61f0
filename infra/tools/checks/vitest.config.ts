import { testLimits } from '@platform/local/test-limits';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'checks',
    globalSetup: ['@platform/local/test-setup'],
    include: ['src/**/*.test.ts'],
    // recheck in JavaScript; its other backends are native programs that are not installed.
    env: { RECHECK_BACKEND: 'pure' },
    ...testLimits,
  },
});
