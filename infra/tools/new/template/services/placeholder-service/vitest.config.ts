import { testLimits } from '@platform/local/test-limits';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'placeholder-service',
    globalSetup: ['@platform/local/test-setup'],
    include: ['{src,test}/**/*.test.ts'],
    ...testLimits,
  },
});
