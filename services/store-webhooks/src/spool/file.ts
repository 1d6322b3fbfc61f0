import { existsSync, statSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { v7 } from 'uuid';
import type { Receipt } from '../inbox/receipt.ts';

/** A file of the spool that this process has locked. Nobody else writes, replays or removes it. */
export interface SpoolFile {
  readonly path: string;
  /** Size of its receipts. */
  readonly bytes: number;
  /** Whether it has receipts that are not replayed. */
  hasMore(): boolean;
  /** Appends receipts; they are durable once this returns. */
  append(receipts: readonly Receipt[]): void;
  /** The next receipts that are not replayed; `isDamaged`: what follows them cannot be read. */
  next(): { receipts: Receipt[]; isDamaged: boolean; markReplayed(): void };
  /** If that fails, the file is given up, so that it is taken over and replayed again. */
  remove(): Promise<void>;
  /** Renames a damaged file, so that it can be examined manually. */
  putAside(): Promise<void>;
  /** Gives the file up; another process may take it over. */
  close(): void;
}

const ending = '.spool';

/** Result codes of SQLite (https://sqlite.org/rescode.html): another process has the lock, the file is damaged. */
const busy = 5;
const damaged = new Set([11, 26]);
const codeOf = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) & 0xff;

/** Receipts in one step of a replay at most, and their bytes. */
const [maxReceipts, maxBytes] = [500, 4 * 2 ** 20];

interface Row {
  id: number;
  about: string;
  body: Uint8Array;
  checksum: number;
}

const checksumOf = (about: string, body: Uint8Array): number => crc32(body, crc32(about));

const receiptOf = ({ about, body }: Row): Receipt => {
  const { receivedAt, ...rest } = JSON.parse(about) as Omit<Receipt, 'body' | 'receivedAt'> & {
    receivedAt: string;
  };
  return {
    ...rest,
    receivedAt: new Date(receivedAt),
    body: Buffer.from(body.buffer, body.byteOffset, body.length),
  };
};

/** The log in front of a file. SQLite removes it when it closes the file, unless that was renamed or removed. */
const logOf = (path: string): string => `${path}-wal`;

const putAside = async (path: string): Promise<void> => {
  await rename(path, `${path}.damaged`);
  await rename(logOf(path), logOf(`${path}.damaged`)).catch(() => undefined);
};

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** A file whose lock `database` has. `isNew`: this process has created it. */
const spoolFile = (path: string, database: DatabaseSync, isNew: boolean): SpoolFile => {
  const insert = database.prepare('insert into receipts (about, body, checksum) values (?, ?, ?)');
  const select = database.prepare('select * from receipts where id > ? order by id');
  let bytes = isNew ? 0 : sizeOf(path) + sizeOf(logOf(path));
  /** Id of the last receipt. Of a file that was taken over it is known when all were read. */
  let last = isNew ? 0 : Infinity;
  let replayed = 0;
  return {
    path,
    get bytes() {
      return bytes;
    },
    hasMore: () => replayed < last,
    append: (receipts) => {
      let [size, id] = [0, last];
      database.exec('begin');
      try {
        for (const { body, ...rest } of receipts) {
          const about = JSON.stringify(rest);
          id = Number(insert.run(about, body, checksumOf(about, body)).lastInsertRowid);
          size += Buffer.byteLength(about) + body.length;
        }
        database.exec('commit');
      } catch (error) {
        if (database.isTransaction) database.exec('rollback');
        throw error;
      }
      [last, bytes] = [id, bytes + size];
    },
    next: () => {
      const receipts: Receipt[] = [];
      let [upTo, size, isDamaged] = [replayed, 0, false];
      try {
        for (const row of select.iterate(replayed) as Iterable<unknown> as Iterable<Row>) {
          if (receipts.length === maxReceipts || size > maxBytes) break;
          isDamaged = checksumOf(row.about, row.body) !== row.checksum;
          if (isDamaged) break;
          receipts.push(receiptOf(row));
          size += row.body.length;
          upTo = row.id;
        }
      } catch (error) {
        if (!damaged.has(codeOf(error))) throw error;
        isDamaged = true;
      }
      if (receipts.length === 0) last = Math.min(last, upTo);
      return { receipts, isDamaged, markReplayed: () => void (replayed = upTo) };
    },
    // The file is locked until it has no name any more, so that no other process takes it over.
    remove: async () => {
      try {
        await unlink(path);
      } finally {
        database.close();
      }
      await rm(logOf(path), { force: true });
    },
    putAside: async () => {
      await putAside(path);
      database.close();
    },
    close: () => {
      if (database.isOpen) database.close();
    },
  };
};

/**
 * Locks a file; undefined if another process has it or has removed it. SQLite takes a lock of the kernel: it ends with the
 * process, however that ends, and holds between containers, where process ids mean nothing.
 */
const lock = (path: string, isNew = false): SpoolFile | undefined => {
  const url = pathToFileURL(path);
  // Never creates the file: its owner may be removing it.
  url.searchParams.set('mode', 'rw');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(url);
    // With the lock the log in front of the file needs no shared memory. Each commit waits until it is on the disk.
    database.exec(`
      pragma locking_mode = exclusive;
      pragma journal_mode = wal;
      pragma synchronous = full;
      create table if not exists receipts (
        id integer primary key, about text not null, body blob not null, checksum integer not null) strict`);
    // The owner may have removed the file after it was opened here. Its name is never used again.
    if (existsSync(path)) return spoolFile(path, database, isNew);
  } catch (error) {
    if (codeOf(error) !== busy && existsSync(path)) {
      database?.close();
      throw error;
    }
  }
  database?.close();
  return undefined;
};

/** Creates a file that only the user of this process can read. */
export const createFile = async (folder: string): Promise<SpoolFile> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${v7()}${ending}`);
  await (await open(path, 'wx', 0o600)).close();
  // Until it is locked, another process can take it for an abandoned one, and remove it.
  return lock(path, true) ?? createFile(folder);
};

interface Abandoned {
  taken: SpoolFile[];
  /** Why a file could not be locked. */
  failed?: unknown;
  /** Files that cannot be read; they were renamed. */
  damaged: string[];
}

/** Locks the files whose processes have ended, oldest first; `known` are those that this process has. */
export const takeAbandoned = async (folder: string, known: ReadonlySet<string>): Promise<Abandoned> => {
  const found: Abandoned = { taken: [], damaged: [] };
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  // Of processes that were killed while they removed a file.
  for (const log of paths.filter((path) => path.endsWith(logOf(ending))))
    if (!existsSync(log.slice(0, -logOf('').length))) await rm(log, { force: true });
  for (const path of paths.filter((one) => one.endsWith(ending)).toSorted()) {
    if (known.has(path)) continue;
    try {
      const file = lock(path);
      if (file !== undefined) found.taken.push(file);
    } catch (error) {
      if (damaged.has(codeOf(error))) {
        await putAside(path);
        found.damaged.push(path);
      } else found.failed = error;
    }
  }
  return found;
};
