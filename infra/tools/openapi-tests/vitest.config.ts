import { testLimits } from '@platform/local/test-limits';
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { name: 'openapi-tests', ...testLimits } });
