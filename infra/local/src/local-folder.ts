import { createHash } from 'node:crypto';
import {
  access,
  chmod,
  chown,
  constants,
  lstat,
  mkdir,
  readlink,
  realpath,
  rm,
  symlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { may } from './account.ts';
import { exists } from './files.ts';
import { SYSTEM_FOLDER } from './postgres-binaries.ts';
import { run, type Account } from './spawn.ts';

/** The folder of a stack. */
export interface LocalFolder {
  path: string;
  /** Data of PostgreSQL and Redis, writable for their user; may be in another place, see `dataFolder`. */
  data: string;
  keys: string;
  /** Path of the log of a program. */
  logFile: (name: string) => string;
}

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );

/**
 * Root's PostgreSQL runs as another user, who may not be able to enter the checkout (/root, mktemp -d). Then the data are
 * in the system folder and `data` is a link to them. Without that link, after `rm -rf .local` or in a checkout that was
 * copied or moved, the data start empty.
 */
const dataFolder = async (local: string, account: Account | undefined): Promise<string> => {
  const path = join(local, 'data');
  const elsewhere = join(SYSTEM_FOLDER, createHash('sha256').update(local).digest('hex').slice(0, 16));
  if (await isLink(path)) {
    if ((await readlink(path)) === elsewhere && (await exists(elsewhere))) return elsewhere;
    await rm(path);
  }
  await mkdir(path, { recursive: true });
  if (!account) return path;
  await chown(path, account.uid, account.gid);
  if (await may(account, 'w', path)) return path;

  await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  await rm(elsewhere, { recursive: true, force: true });
  await run('mv', [path, elsewhere]);
  await symlink(elsewhere, path);
  if (await may(account, 'w', elsewhere)) return elsewhere;
  throw new Error(
    `the user ${account.uid}, as whom PostgreSQL runs, can write neither ${path} nor ${elsewhere}`,
  );
};

/**
 * Opens the folder and creates what is missing in it.
 * @throws naming the folder when this user may not write to it
 */
export const openLocalFolder = async (where: string, account: Account | undefined): Promise<LocalFolder> => {
  await mkdir(where, { recursive: true })
    .then(() => access(where, constants.W_OK))
    .catch((cause: unknown) => {
      throw new Error(`${where} cannot be written by this user; change its owner or pass --local FOLDER`, {
        cause,
      });
    });
  const path = await realpath(where);
  const [keys, logs] = [join(path, 'keys'), join(path, 'logs')];
  await Promise.all([mkdir(keys, { recursive: true, mode: 0o700 }), mkdir(logs, { recursive: true })]);
  // The workers of nginx, who are another user, open their logs again after a rotation.
  await chmod(logs, 0o711);
  return { path, data: await dataFolder(path, account), keys, logFile: (name) => join(logs, `${name}.log`) };
};
