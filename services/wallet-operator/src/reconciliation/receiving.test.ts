import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('the thread that reads a statement has a small heap of its own, whatever heap its process was given', () => {
  const program = `
    import { startReading } from ${JSON.stringify(new URL('receiving.ts', import.meta.url))};
    const format = { type: 'csv' };
    const thread = startReading({ format, period: { from: '2026-01-01', to: '2026-01-02', tolerance: 0 }, scope: 'global' });
    thread.once('online', async () => {
      const { heap_size_limit } = await thread.getHeapStatistics();
      console.log(heap_size_limit);
      process.exit();
    });`;
  const options = [
    '--max-semi-space-size=32',
    '--max-old-space-size=287',
    '--input-type=module',
    '-e',
    program,
  ];
  const limit = Number(execFileSync(process.execPath, options, { encoding: 'utf8' }));
  expect(limit / 2 ** 20).toBeLessThan(64);
  expect(limit / 2 ** 20).toBeGreaterThan(32);
});
