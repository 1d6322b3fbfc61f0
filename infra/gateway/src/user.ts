import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Accounts that packages of nginx create, then the one that every system has. */
const candidates = ['nginx', 'www-data', 'nobody'];

/** Rows of a file like /etc/passwd; none when the file does not exist. */
const rows = async (file: string): Promise<string[][]> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').map((line) => line.split(':'));
};

/** Whether every user may enter the folder and all folders above it. */
const isOpen = async (folder: string): Promise<boolean> => {
  const { mode } = await stat(folder);
  const above = dirname(folder);
  return (mode & 0o001) !== 0 && (above === folder || (await isOpen(above)));
};

/**
 * `user group` of the workers of a gateway that root starts: the first unprivileged account that exists, or root itself
 * when that account cannot enter the folders (a checkout below /root). Undefined when this process is not root.
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
