import { defineConfig } from 'vitest/config';
import { testLimits } from './src/test-limits.ts';

export default defineConfig({
  test: {
    name: 'local',
    globalSetup: ['./src/test-setup.ts'],
    ...testLimits,
  },
});
