import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Runs a program that uses `batchesOf` in its own process, because the memory limit applies to a process. */
const run = async (program: string): Promise<string> => {
  const start = `const { batchesOf } = await import(${JSON.stringify(import.meta.resolve('../src/import/use-cases.ts'))});`;
  const flags = ['--max-old-space-size=32', '--input-type=module', '--eval'];
  return (await promisify(execFile)(process.execPath, [...flags, start + program])).stdout;
};

test('100,000 short lines that are all refused are read in 32 MB of heap', async () => {
  const lines = await run(`
    async function* body() {
      for (let n = 0; n < 2; n++) yield Buffer.from('{}\\n'.repeat(50_000));
    }
    let count = 0;
    for await (const { lines } of batchesOf(body(), 1, 1_000_000)) count += lines.length;
    process.stdout.write(String(count));`);
  expect(lines).toBe('100000');
});

test('the lines of forty imports that wait for their turn, three hundred objects each, are kept in 32 MB of heap', async () => {
  const heaviest = await run(`
    const line = JSON.stringify({
      lines: Array(200).fill({ description: 'a', quantity: 1 }),
      parcels: Array(100).fill({}),
    });
    async function* body() {
      yield Buffer.from((line + '\\n').repeat(1000));
    }
    const waiting = [];
    for (let n = 0; n < 40; n++) {
      const batches = batchesOf(body(), 1, 1_000_000);
      for (let taken = 0; taken < 3; taken++) waiting.push((await batches.next()).value);
    }
    const sizes = waiting.map(({ lines }) => lines.reduce((all, { bytes }) => all + bytes.length, 0));
    process.stdout.write(String(Math.max(...sizes)));`);
  // A batch of this many lines is parsed at once, in one turn of the event loop.
  expect(Number(heaviest)).toBeLessThan(280_000);
});
