import { defineConfig } from 'vitest/config';
import { ci, nginxPath } from './test/env.ts';

const leftOut = nginxPath === undefined;
if (leftOut && ci) throw new Error('gateway: nginx is not installed, and CI leaves nothing out');
if (leftOut)
  process.stdout.write('gateway: nginx is not installed, so the tests that run it (test/) are left out\n');

export default defineConfig({
  test: {
    name: 'gateway',
    include: leftOut ? ['src/**/*.test.ts'] : ['{src,test}/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
