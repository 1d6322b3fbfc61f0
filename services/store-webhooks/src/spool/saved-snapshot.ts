import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@platform/service-kit/log';
import { v7 } from 'uuid';
import { safeError } from '../tracker/failure.ts';

/** What a process needs that starts while the database is unavailable; kept beside the events. */
export interface Snapshot {
  /** Returns the same text while nothing has changed. */
  take(): string;
  /** Called with the snapshots of other processes. Throws if one is not readable. */
  restore(text: string): void;
}

const ending = '.snapshot.json';
/** A running process replaces its snapshot every minute, so an older one belongs to a process that has ended long ago. */
const keptMs = 24 * 3_600_000;

/** Replaces the file; durable once this resolves. */
const replaceFile = async (path: string, text: string): Promise<void> => {
  const next = await open(`${path}.next`, 'w', 0o600);
  try {
    await next.writeFile(text);
    await next.sync();
  } finally {
    await next.close();
  }
  await rename(`${path}.next`, path);
};

/** Keeps the snapshot of this process in `folder`, and restores those of all processes, running or not. */
export const createSavedSnapshot = (snapshot: Snapshot | undefined, folder: string, log: Log) => {
  const own = join(folder, `${v7()}${ending}`);
  let latest: string | undefined;
  return {
    /** Writes the snapshot if it has changed. */
    save: async (): Promise<void> => {
      const text = snapshot?.take();
      if (text === undefined || text === latest) return;
      await replaceFile(own, text);
      latest = text;
    },
    /** Restores all snapshots and removes the old ones. */
    restore: async (): Promise<void> => {
      const names = (await readdir(folder)).filter((name) => name.endsWith(ending));
      for (const path of names.map((name) => join(folder, name))) {
        try {
          const { mtimeMs } = await stat(path);
          snapshot?.restore(await readFile(path, 'utf8'));
          if (mtimeMs < Date.now() - keptMs) await rm(path);
        } catch (err) {
          log.warn({ err: safeError(err), path }, 'a snapshot beside the spool is not readable');
        }
      }
    },
  };
};
