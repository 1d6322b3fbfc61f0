import { defineConfig } from 'vitest/config';
import { ci, nginxPath } from './test/env.ts';

const leftOut = nginxPath === undefined;
if (leftOut && ci) throw new Error('gateway: nginx is not installed, and CI leaves nothing out');
if (leftOut)
  process.stdout.write('gateway: nginx is not installed, so the tests that run it (test/) are left out\n');

export default defineConfig({
  test: {
    name: 'gateway',
    // Those of @platform/local, which uses this package.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    include: leftOut ? ['src/**/*.test.ts'] : ['{src,test}/**/*.test.ts'],
  },
});
