import { chown, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { may, type Account } from './account.ts';
import { watch } from './watch.ts';

/** A folder for a while, and how to remove it. */
export interface Temporary {
  path: string;
  remove: () => Promise<void>;
}

const make = async (parent: string, account: Account | undefined): Promise<string> => {
  const path = await mkdtemp(join(await realpath(parent), 'platform-'));
  if (account) await chown(path, account.uid, account.gid);
  return path;
};

/** A new folder that belongs to the account and that it can reach. It goes when this process goes. */
export const temporaryFolder = async (account: Account | undefined): Promise<Temporary> => {
  let path = await make(tmpdir(), account);
  if (!(await may(account, 'w', path))) {
    // TMPDIR may lie where the unprivileged user cannot enter.
    await rm(path, { recursive: true });
    path = await make('/var/tmp', account);
  }
  watch({ folder: path });
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      watch({ keep: path });
    },
  };
};
