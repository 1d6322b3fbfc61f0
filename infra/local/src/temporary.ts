import { randomBytes } from 'node:crypto';
import { chown, mkdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { may } from './account.ts';
import type { Account } from './run.ts';
import { watch } from './watch.ts';

/** A folder for a while, and how to remove it. */
export interface Temporary {
  path: string;
  remove: () => Promise<void>;
}

const make = async (parent: string, account: Account | undefined): Promise<string> => {
  const path = join(await realpath(parent), `platform-${randomBytes(6).toString('hex')}`);
  // Told before it is made: we may be killed at any moment.
  watch({ folder: path });
  await mkdir(path, { mode: 0o700 });
  if (account) await chown(path, account.uid, account.gid);
  return path;
};

/** A new folder that belongs to the account and that it can reach. It goes when this process goes. */
export const temporaryFolder = async (account: Account | undefined): Promise<Temporary> => {
  let path = await make(tmpdir(), account);
  // TMPDIR may lie where the unprivileged user cannot enter.
  if (!(await may(account, 'w', path))) path = await make('/var/tmp', account);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      watch({ keep: path });
    },
  };
};
