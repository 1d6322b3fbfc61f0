import { open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { v7 } from 'uuid';
import type { ReceivedEvent } from '../event.ts';
import { syncFolder } from './folder.ts';

/**
 * Format of a record: length and CRC-32 of the rest (4 bytes each, big endian), length of the JSON
 * that describes the event (4 bytes), this JSON, the raw body.
 */
const headBytes = 8;

export const encode = ({ body, ...metadata }: ReceivedEvent): Buffer => {
  const metadataJson = Buffer.from(JSON.stringify(metadata));
  const record = Buffer.allocUnsafe(headBytes + 4 + metadataJson.length + body.length);
  record.writeUInt32BE(record.length - headBytes, 0);
  record.writeUInt32BE(metadataJson.length, headBytes);
  metadataJson.copy(record, headBytes + 4);
  body.copy(record, headBytes + 4 + metadataJson.length);
  record.writeUInt32BE(crc32(record.subarray(headBytes)), 4);
  return record;
};

const decode = (content: Buffer): ReceivedEvent => {
  const bodyAt = 4 + content.readUInt32BE(0);
  const metadata = JSON.parse(content.toString('utf8', 4, bodyAt)) as Omit<
    ReceivedEvent,
    'body' | 'receivedAt'
  > & {
    receivedAt: string;
  };
  return {
    ...metadata,
    receivedAt: new Date(metadata.receivedAt),
    // Copies the body, so that one small event does not keep a whole chunk of the file in memory.
    body: Buffer.from(content.subarray(bodyAt)),
  };
};

/**
 * Decodes up to `max` complete records at the beginning of `chunk`; `bytes` is their total size. An incomplete or a damaged
 * record may follow.
 */
export const decodeAll = (chunk: Buffer, max: number) => {
  const events: ReceivedEvent[] = [];
  let at = 0;
  while (events.length < max && chunk.length - at >= headBytes) {
    const end = at + headBytes + chunk.readUInt32BE(at);
    if (end > chunk.length) break;
    const content = chunk.subarray(at + headBytes, end);
    // A power failure can leave zeros at the end of a file. They look like an empty record, which is never written.
    if (content.length === 0 || crc32(content) !== chunk.readUInt32BE(at + 4))
      return { events, bytes: at, damaged: true };
    events.push(decode(content));
    at = end;
  }
  return { events, bytes: at, damaged: false };
};

export interface SpoolFile {
  path: string;
  handle: FileHandle;
  /** Number of bytes that are synced to disk. */
  size: number;
  /** Number of these bytes that are already stored in the inbox. */
  replayed: number;
}

const extension = '.spool';
/** Of a quarantined file. */
export const damagedExtension = '.damaged';

/** Creates an empty file; durable once this resolves. */
export const createFile = async (folder: string): Promise<SpoolFile> => {
  const path = join(folder, `${v7()}${extension}`);
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
    // `size` is not advanced, so the next records overwrite the partly written ones, and reading stops before them.
    await file.handle.truncate(file.size).catch(() => undefined);
    throw error;
  }
  file.size += data.length;
};

/** Opens the files in a folder that this instance took over, oldest first. */
export const openFiles = async (folder: string): Promise<SpoolFile[]> => {
  const files: SpoolFile[] = [];
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension));
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
 * Stores the events of a file that are not replayed yet, in order. `cut`: the file ends with an incomplete record; `damaged`:
 * nothing after the damage can be replayed. Rejects when `store` does; the next call continues at that position.
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

/** Moves a damaged file out of its folder, so that an operator can examine it. */
export const quarantine = async ({ path, handle }: SpoolFile): Promise<void> => {
  await rename(path, join(dirname(dirname(path)), `${basename(path)}${damagedExtension}`));
  await handle.close();
};
