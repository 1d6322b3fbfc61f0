import { mkdir, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { v7 } from 'uuid';
import type { Receipt } from '../inbox/receipt.ts';
import { decodeAll, encode } from './record.ts';

/** A spool file. Each process writes only its own file. */
export interface SpoolFile {
  path: string;
  handle: FileHandle;
  /** Number of bytes that are synced to disk. */
  size: number;
  /** Number of these bytes that are already stored in the inbox. */
  replayed: number;
}

const ending = '.spool';

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
};

/** Creates an empty file that only the user of this process can read; durable once this resolves. */
export const createFile = async (folder: string): Promise<SpoolFile> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${v7()}.${process.pid}${ending}`);
  const handle = await open(path, 'ax+', 0o600);
  await syncFolder(folder);
  return { path, handle, size: 0, replayed: 0 };
};

/** Appends receipts; they are durable once this resolves. */
export const append = async (file: SpoolFile, receipts: readonly Receipt[]): Promise<void> => {
  const data = Buffer.concat(receipts.map(encode));
  try {
    await file.handle.appendFile(data);
    await file.handle.datasync();
  } catch (error) {
    // A partial record in the middle would make the records after it unreadable.
    await file.handle.truncate(file.size).catch(() => undefined);
    throw error;
  }
  file.size += data.length;
};

/** Opens a file that another process wrote. */
export const openLeft = async (path: string): Promise<SpoolFile> => {
  const handle = await open(path, 'r');
  return { path, handle, size: (await handle.stat()).size, replayed: 0 };
};

/** Reads the next complete records that are not replayed yet. */
export const readNext = async ({ handle, replayed, size }: SpoolFile) => {
  const chunk = Buffer.alloc(Math.min(size - replayed, 4_194_304));
  const { bytesRead } = await handle.read(chunk, 0, chunk.length, replayed);
  return decodeAll(chunk.subarray(0, bytesRead), 500);
};

export const removeFile = async ({ path, handle }: SpoolFile): Promise<void> => {
  await handle.close();
  await unlink(path);
};

/** Renames a damaged file, so that it can be examined manually. */
export const putAside = async ({ path, handle }: SpoolFile): Promise<void> => {
  await handle.close();
  await rename(path, `${path}.damaged`);
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Paths of the files left by processes that no longer run, oldest first. */
export const leftFiles = async (folder: string): Promise<string[]> => {
  const names = await readdir(folder).catch(() => [] as string[]);
  return names
    .filter((name) => name.endsWith(ending))
    .filter((name) => {
      const pid = Number(name.split('.')[1]);
      return pid === process.pid || !isAlive(pid);
    })
    .toSorted()
    .map((name) => join(folder, name));
};
