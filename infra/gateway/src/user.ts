import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Whether every user may enter the folder and all folders above it. */
const isOpen = async (folder: string): Promise<boolean> => {
  const { mode } = await stat(folder);
  const above = dirname(folder);
  return (mode & 0o001) !== 0 && (above === folder || (await isOpen(above)));
};

/**
 * `root` when root starts the gateway and no other user can enter its folders (a checkout below /root). Otherwise undefined:
 * nginx then has the unprivileged user that it was built with.
 */
export const workerUser = async (folders: readonly string[]): Promise<'root' | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const open = await Promise.all(folders.map(isOpen));
  return open.every(Boolean) ? undefined : 'root';
};
