import { mkdtemp, rm, chmod, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Stack } from '../src/local-folder.ts';
import { startPlatform, type StartedPlatform } from '../src/testing/platform.ts';
import { memoryFolder } from '../src/testing/postgres.ts';

/** Creates an empty folder for the running test, and removes it afterwards. */
export const scratch = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'platform-test-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};

/** A `start` of its own, over the two small services of the fixtures. */
export interface StackRun extends StartedPlatform {
  local: string;
  /** stack.json as it stands. */
  stack: () => Promise<Stack>;
}

/** A folder that everybody may enter, as a checkout usually is. */
export const newLocalFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join((await memoryFolder()) ?? tmpdir(), 'stack-'));
  await chmod(folder, 0o755);
  return folder;
};
export const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

export const fixtures = join(import.meta.dirname, 'fixtures/services');

export const startStack = (local: string, env: Record<string, string>, ...args: string[]): StackRun => ({
  ...startPlatform({ local, args: ['--services', fixtures, ...args], env }),
  local,
  stack: async () => JSON.parse(await readFile(join(local, 'stack.json'), 'utf8')) as Stack,
});
