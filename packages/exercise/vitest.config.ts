import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { name: 'exercise', testTimeout: 30_000 } });
