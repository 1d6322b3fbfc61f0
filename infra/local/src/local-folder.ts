import { access, chmod, constants, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of a stack. */
export interface LocalFolder {
  path: string;
  /** Data of PostgreSQL and Redis. */
  data: string;
  keys: string;
  /** Path of the log of a program. */
  logFile: (name: string) => string;
}

/**
 * Opens the folder and creates what is missing in it.
 * @throws naming the folder when this user may not write to it
 */
export const openLocalFolder = async (where: string): Promise<LocalFolder> => {
  await mkdir(where, { recursive: true })
    .then(() => access(where, constants.W_OK))
    .catch((cause: unknown) => {
      throw new Error(`${where} cannot be written by this user; change its owner or pass --local FOLDER`, {
        cause,
      });
    });
  const path = await realpath(where);
  const [keys, logs, data] = [join(path, 'keys'), join(path, 'logs'), join(path, 'data')];
  await mkdir(keys, { recursive: true, mode: 0o700 });
  // PostgreSQL and the workers of nginx, who open their logs again after a rotation, may be other users.
  for (const folder of [logs, data]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
  }
  return { path, data, keys, logFile: (name) => join(logs, `${name}.log`) };
};
