import { defineConfig } from 'vitest/config';
import { testLimits } from './src/testing/limits.ts';

export default defineConfig({
  test: {
    name: 'local',
    globalSetup: ['./src/testing/setup.ts'],
    ...testLimits,
  },
});
