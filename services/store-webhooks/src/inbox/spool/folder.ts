import { mkdir, open, readdir, rmdir, unlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { v7 } from 'uuid';

const lockName = 'lock';
const [busy, cannotOpen] = [5, 14];

/** Makes the names in a folder durable. */
export const syncFolder = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
};

/**
 * Locks a folder, or returns undefined if another instance has it. SQLite takes a lock of the kernel on the file:
 * the kernel releases it when the instance ends, even by a crash, and it works between containers, unlike process ids.
 */
const lock = (path: string) => {
  const lockPath = join(path, lockName);
  const url = pathToFileURL(lockPath);
  // Never creates the file: its owner may be removing it.
  url.searchParams.set('mode', 'rw');
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(url);
    file.exec('begin exclusive');
  } catch (error) {
    file?.close();
    const { errcode } = error as { errcode?: number };
    // The owner may have removed the file. Other errors, such as too many open files, are thrown and retried later.
    if (errcode === busy || (errcode === cannotOpen && !existsSync(lockPath))) return undefined;
    throw error;
  }
  const locked = file;
  // The owner may have removed the file after it was opened here. It is not a new one: each folder has a new UUID.
  if (!existsSync(lockPath)) {
    locked.close();
    return undefined;
  }
  return {
    path,
    /** Unlocks the folder, so that another instance can take it over. */
    unlock: (): void => {
      if (locked.isOpen) locked.close();
    },
    /** Removes the folder and its files, the lock last, so that a folder with files always has a lock. */
    remove: async (): Promise<void> => {
      const names = await readdir(path);
      for (const name of names.filter((file) => file !== lockName)) await unlink(join(path, name));
      await unlink(lockPath);
      await rmdir(path);
      locked.close();
    },
  };
};

/** A folder of the spool that this instance has locked. No other instance writes or removes files in it. */
export type OwnFolder = NonNullable<ReturnType<typeof lock>>;

/** Creates a folder that only the user of the operating system that runs this instance can read, and locks it. */
export const createFolder = async (parent: string): Promise<OwnFolder> => {
  const path = join(parent, v7());
  await mkdir(path, { recursive: true, mode: 0o700 });
  // Until the folder is locked, another instance may consider it abandoned and remove it.
  const isWritten = await writeFile(join(path, lockName), '', { flag: 'wx', mode: 0o600 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  const folder = isWritten ? lock(path) : undefined;
  if (folder === undefined) return createFolder(parent);
  for (const changedFolder of [path, parent, dirname(parent)]) await syncFolder(changedFolder);
  return folder;
};

export const foldersIn = async (parent: string): Promise<string[]> => {
  const entries = await readdir(parent, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(parent, name));
};

/** Locks the folders whose instances have ended, oldest first. `error`: why a folder could not be locked. */
export const lockAbandoned = async (parent: string): Promise<{ folders: OwnFolder[]; error?: unknown }> => {
  const folders: OwnFolder[] = [];
  let lastError: unknown;
  for (const path of (await foldersIn(parent)).toSorted()) {
    try {
      const folder = lock(path);
      if (folder !== undefined) folders.push(folder);
      // The instance ended before locking the folder, or while removing it. `rmdir` fails if the folder has files.
      else if (!existsSync(join(path, lockName))) await rmdir(path).catch(() => undefined);
    } catch (error) {
      lastError = error;
    }
  }
  return { folders, error: lastError };
};
