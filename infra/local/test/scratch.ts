import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates an empty folder for the running test, and removes it afterwards. */
export const scratch = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'platform-test-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};
