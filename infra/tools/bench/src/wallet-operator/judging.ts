import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repeat } from '../figure.ts';

const cwd = new URL('../../../../../packages/wallet-conformance', import.meta.url).pathname;

const run = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  return stdout;
};

/** Seconds that `wallet-conformance check` takes for a file of at least `calls` calls of a correct backend. Throws when it rejects one. */
export const judgeCalls = async (calls: number, times: number): Promise<number[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'judge-'));
  try {
    const file = join(folder, 'calls.jsonl');
    await run('test/simulate-history.ts', file, String(calls));
    return await repeat(times, async () => {
      const start = performance.now();
      const printed = await run('src/main.ts', 'check', file);
      if (!printed.includes(': 0 violations, 0 not judged')) throw new Error(printed);
      return (performance.now() - start) / 1000;
    });
  } finally {
    await rm(folder, { recursive: true });
  }
};
