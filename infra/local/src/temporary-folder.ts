import { randomBytes } from 'node:crypto';
import { chown, mkdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { may } from './account.ts';
import { cleanUpAfterExit } from './cleanup.ts';
import type { Account } from './spawn.ts';

/** A temporary folder, and how to remove it. */
export interface TemporaryFolder {
  path: string;
  remove: () => Promise<void>;
}

const create = async (parent: string, account: Account | undefined): Promise<string> => {
  const path = join(await realpath(parent), `platform-${randomBytes(6).toString('hex')}`);
  // First, because this process may be killed at any moment.
  cleanUpAfterExit({ path });
  await mkdir(path, { mode: 0o700 });
  if (account) await chown(path, account.uid, account.gid);
  return path;
};

/** Creates a folder that the account owns and can reach. It is removed when this process ends. */
export const temporaryFolder = async (account: Account | undefined): Promise<TemporaryFolder> => {
  let path = await create(tmpdir(), account);
  // TMPDIR may be where the unprivileged user cannot enter.
  if (!(await may(account, 'w', path))) path = await create('/var/tmp', account);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      cleanUpAfterExit({ removedPath: path });
    },
  };
};
