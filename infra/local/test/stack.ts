import { mkdtemp, rm, chmod, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Stack } from '../src/local-folder.ts';
import { startPlatform, type StartedPlatform } from '../src/testing/platform.ts';
import { memoryFolder } from '../src/testing/postgres.ts';

/** Creates an empty folder and removes it after the test. */
export const temporaryTestFolder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'platform-test-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};

/** A running `start` with the two small services of the fixtures. */
export interface TestStack extends StartedPlatform {
  local: string;
  /** Reads stack.json. */
  stack: () => Promise<Stack>;
}

/** Creates a folder that every user may enter, like a usual checkout. */
export const newLocalFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join((await memoryFolder()) ?? tmpdir(), 'stack-'));
  await chmod(folder, 0o755);
  return folder;
};
export const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

export const fixtures = join(import.meta.dirname, 'fixtures/services');

export const startStack = (local: string, env: Record<string, string>, ...args: string[]): TestStack => ({
  ...startPlatform({ local, args: ['--services', fixtures, ...args], env }),
  local,
  stack: async () => JSON.parse(await readFile(join(local, 'stack.json'), 'utf8')) as Stack,
});
