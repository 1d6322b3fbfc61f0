import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Accounts that packages of nginx make, then the one that every system has. */
const candidates = ['nginx', 'www-data', 'nobody'];

/** Rows of a file like /etc/passwd; none where there is no such file. */
const rows = async (file: string): Promise<string[][]> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').map((line) => line.split(':'));
};

/** Whether everybody may go into the folder; all folders above it count too. */
const isOpen = async (folder: string): Promise<boolean> => {
  const { mode } = await stat(folder);
  const above = dirname(folder);
  return (mode & 0o001) !== 0 && (above === folder || (await isOpen(above)));
};

/**
 * `user group` for the workers of a gateway that is started as root: the first unprivileged account there is, or root
 * itself where that account could not reach the folders (a checkout below /root). Undefined when we are not root.
 */
export const workerUser = async (folders: readonly string[]): Promise<string | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const open = await Promise.all(folders.map(isOpen));
  const [accounts, groups] = await Promise.all([rows('/etc/passwd'), rows('/etc/group')]);
  const account = candidates
    .map((name) => accounts.find((row) => row[0] === name))
    .find((row) => row !== undefined);
  const group = groups.find((row) => row[2] === account?.[3]);
  const [user] = account ?? [];
  const [groupName] = group ?? [];
  return open.every(Boolean) && user !== undefined && groupName !== undefined
    ? `${user} ${groupName}`
    : 'root';
};
