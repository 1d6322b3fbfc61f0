import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@platform/service-kit/log';
import { foldersIn, type OwnFolder } from './folder.ts';

/** What an instance needs that starts while the database is unavailable; kept beside the events. */
export interface OutageSnapshot {
  /** Returns the same text while nothing has changed. */
  take(): string;
  /** Called with the snapshots of other instances. Throws if one is not readable. */
  restore(text: string): void;
}

const fileName = 'snapshot.json';

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

/** Keeps a snapshot in the folder of this instance, and restores those in all folders of `parent`. */
export const createSavedSnapshot = (snapshot: OutageSnapshot | undefined, parent: string, log: Log) => {
  let latest: string | undefined;
  return {
    get exists() {
      return latest !== undefined;
    },
    /** Writes the snapshot if it has changed. */
    save: async (folder: OwnFolder): Promise<void> => {
      const text = snapshot?.take();
      if (text === undefined || text === latest) return;
      await replaceFile(join(folder.path, fileName), text);
      latest = text;
    },
    /** Restores the snapshots of all instances, running or not. */
    restore: async (): Promise<void> => {
      for (const path of await foldersIn(parent)) {
        // An instance that has verified no token has written no snapshot.
        const text = await readFile(join(path, fileName), 'utf8').catch(() => undefined);
        try {
          if (text !== undefined) snapshot?.restore(text);
        } catch (err) {
          log.warn({ err, path }, 'a snapshot beside the spool is not readable');
        }
      }
    },
  };
};
