import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** A process of its own, because the limit is that of the process. */
const program = `
  const { batchesOf } = await import(${JSON.stringify(import.meta.resolve('../src/import/use-cases.ts'))});
  async function* body() {
    for (let n = 0; n < 2; n++) yield Buffer.from('{}\\n'.repeat(50_000));
  }
  let lines = 0;
  for await (const { readings } of batchesOf(body(), 1, 1_000_000)) lines += readings.length;
  process.stdout.write(String(lines));`;

test('100,000 short lines that are all refused are read in 32 MB of heap', async () => {
  const flags = ['--max-old-space-size=32', '--input-type=module', '--eval'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program]);
  expect(stdout).toBe('100000');
});
