import { randomBytes } from 'node:crypto';
import { chown, mkdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUpAfterExit } from './cleanup.ts';
import type { Account } from './spawn.ts';

/** A temporary folder, and how to remove it. */
export interface TemporaryFolder {
  path: string;
  remove: () => Promise<void>;
}

/** Creates a folder that the account owns. It is removed when this process ends. */
export const temporaryFolder = async (account?: Account, parent = tmpdir()): Promise<TemporaryFolder> => {
  const path = join(await realpath(parent), `platform-${randomBytes(6).toString('hex')}`);
  // First, because this process may be killed at any moment.
  cleanUpAfterExit({ path });
  await mkdir(path, { mode: 0o700 });
  if (account) await chown(path, account.uid, account.gid);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      cleanUpAfterExit({ removedPath: path });
    },
  };
};
