import { open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { v7 } from 'uuid';
import type { ReceivedEvent } from '../event.ts';
import { syncFolder } from './folder.ts';
import { decodeAll, encode } from './record.ts';

export interface SpoolFile {
  path: string;
  handle: FileHandle;
  /** Number of bytes that are synced to disk. */
  size: number;
  /** Number of these bytes that are already stored in the inbox. */
  replayed: number;
}

const ending = '.spool';
/** Of a file that was put aside. */
export const damagedEnding = '.damaged';

/** Creates an empty file; durable once this resolves. */
export const createFile = async (folder: string): Promise<SpoolFile> => {
  const path = join(folder, `${v7()}${ending}`);
  const handle = await open(path, 'wx+', 0o600);
  await syncFolder(folder);
  return { path, handle, size: 0, replayed: 0 };
};

/** Appends events; they are durable once this resolves. */
export const append = async (file: SpoolFile, events: readonly ReceivedEvent[]): Promise<void> => {
  const data = Buffer.concat(events.map(encode));
  try {
    for (let at = 0; at < data.length;)
      at += (await file.handle.write(data, at, data.length - at, file.size + at)).bytesWritten;
    await file.handle.datasync();
  } catch (error) {
    // The file's size is not advanced: the next records overwrite what was written of these, and reading stops before it.
    await file.handle.truncate(file.size).catch(() => undefined);
    throw error;
  }
  file.size += data.length;
};

/** Opens the files in a folder that was taken over, oldest first. */
export const openFiles = async (folder: string): Promise<SpoolFile[]> => {
  const files: SpoolFile[] = [];
  const names = (await readdir(folder)).filter((name) => name.endsWith(ending));
  for (const path of names.toSorted().map((name) => join(folder, name))) {
    const handle = await open(path, 'r');
    files.push({ path, handle, size: (await handle.stat()).size, replayed: 0 });
  }
  return files;
};

const readNext = async ({ handle, replayed, size }: SpoolFile) => {
  const chunk = Buffer.alloc(Math.min(size - replayed, 4_194_304));
  const { bytesRead } = await handle.read(chunk, 0, chunk.length, replayed);
  return decodeAll(chunk.subarray(0, bytesRead), 500);
};

/**
 * Stores the events of a file that are not replayed yet, in their order. `cut`: it ends with an incomplete
 * record; `damaged`: nothing behind the damage can be replayed. Rejects when `store` does; the next call goes on there.
 */
export const storeSpooledEvents = async (
  file: SpoolFile,
  store: (events: ReceivedEvent[]) => Promise<unknown>,
): Promise<'whole' | 'cut' | 'damaged'> => {
  while (file.replayed < file.size) {
    const { events, bytes, damaged } = await readNext(file);
    if (events.length > 0) await store(events);
    file.replayed += bytes;
    if (damaged) return 'damaged';
    if (bytes === 0) return 'cut';
  }
  return 'whole';
};

export const removeFile = async ({ path, handle }: SpoolFile): Promise<void> => {
  await unlink(path);
  await handle.close();
};

/** Moves a damaged file out of its folder, so that it can be examined manually. */
export const putAside = async ({ path, handle }: SpoolFile): Promise<void> => {
  await rename(path, join(dirname(dirname(path)), `${basename(path)}${damagedEnding}`));
  await handle.close();
};
