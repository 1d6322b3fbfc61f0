import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { gatherLines } from './log-buffer.ts';

const logFile = () => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'log');
  return { log: gatherLines(path), read: () => readFileSync(path, 'utf8') };
};

const info = '{"level":"info","msg":"a"}\n';

test('lines wait for others, not for long, and keep their order', async () => {
  const { log, read } = logFile();
  log.write(info);
  log.write('{"level":"info","msg":"b"}\n');
  await expect.poll(read).toBe(`${info}{"level":"info","msg":"b"}\n`);
});

test('an error takes what waits along, without waiting for the time to pass', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { log, read } = logFile();
  log.write(info);
  log.write('{"level":"error","msg":"b"}\n');
  await vi.waitFor(() => expect(read()).toBe(`${info}{"level":"error","msg":"b"}\n`));
});

test.each(['process.exit(3)', "throw new Error('gone')"])(
  'nothing is lost by a process that ends by %s',
  (end) => {
    const script = `
      import { gatherLines } from '${new URL('./log-buffer.ts', import.meta.url).href}';
      gatherLines(1).write('last words\\n');
      ${end};`;
    let said: unknown;
    try {
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    } catch (error) {
      said = String((error as { stdout: Buffer }).stdout);
    }
    expect(said).toBe('last words\n');
  },
);
