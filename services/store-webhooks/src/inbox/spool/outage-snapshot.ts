import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PathTokens, VerifiedToken } from '@platform/auth/path-tokens';
import type { Log } from '@platform/service-kit/log';
import type { DatabaseClock } from '../../db/clock.ts';
import type { StoreRow } from '../../db/tables.ts';
import type { KnownStore, TokenRow } from '../../stores/known-store.ts';
import type { Rotations } from '../../stores/rotations.ts';
import { foldersIn, type OwnFolder } from './folder.ts';

const fileName = 'snapshot.json';
/** After this time the snapshot is saved again even if no token was added or removed. */
const refreshMs = 60_000;
/** A larger file is neither written nor read at a start, because it would not fit into memory. */
const maxBytes = 32 * 2 ** 20;

interface Content {
  /** How far the clock of the database is ahead of the clock of this machine. */
  aheadMs: number;
  stores: StoreRow[];
  /** Each with the id of its store. */
  tokens: VerifiedToken<Omit<TokenRow, 'store'> & { store: string }>[];
}

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

interface Sources {
  tokens: PathTokens<TokenRow>;
  rotations: Pick<Rotations, 'reread'>;
  clock: DatabaseClock;
  openStore(row: StoreRow): KnownStore;
  log: Log;
}

export type OutageSnapshot = ReturnType<typeof createOutageSnapshot>;

/**
 * Saves and restores everything that an instance needs to accept webhooks when it starts without a database: the hashes of
 * recently verified tokens, their stores with encrypted credentials, and the clock. Contains no token. The file is kept in the
 * folder of the spool.
 */
export const createOutageSnapshot = ({ tokens, rotations, clock, openStore, log }: Sources) => {
  let saved = { changes: -1, at: -Infinity };
  const createContent = (): Content => {
    const verified = tokens.verified();
    const rows = verified.map(({ row }) => row.store.row);
    // Tokens of one store may have been looked up at different times; the newest row wins.
    const oldestFirst = rows.toSorted((left, right) => (left.updatedAt < right.updatedAt ? -1 : 1));
    return {
      aheadMs: clock.aheadMs,
      stores: [...new Map(oldestFirst.map((row) => [row.id, row])).values()],
      tokens: verified.map(({ row, expiresAt }) => ({ row: { ...row, store: row.store.id }, expiresAt })),
    };
  };
  const restoreContent = (text: string): void => {
    const { aheadMs, stores, tokens: savedTokens } = JSON.parse(text) as Content;
    clock.restore(aheadMs);
    const opened = new Map(stores.map((row) => [row.id, openStore(row)]));
    tokens.restore(
      savedTokens.flatMap(({ row, expiresAt }) => {
        const store = opened.get(row.store);
        return store === undefined ? [] : [{ row: { ...row, store }, expiresAt }];
      }),
    );
    rotations.reread();
  };
  return {
    /** Saves the snapshot in the folder of this instance, unless it was just saved and no token has changed since. */
    save: async (folder: OwnFolder): Promise<void> => {
      const current = { changes: tokens.changes, at: performance.now() };
      if (current.changes === saved.changes && current.at - saved.at < refreshMs) return;
      const text = JSON.stringify(createContent());
      saved = current;
      if (Buffer.byteLength(text) > maxBytes)
        return log.warn({ folder: folder.path }, 'the snapshot is too large to be saved in the spool folder');
      await replaceFile(join(folder.path, fileName), text);
    },
    /** Restores the snapshots of all instances, running or not, whose folders are in `parent`. */
    restore: async (parent: string): Promise<void> => {
      for (const path of await foldersIn(parent)) {
        const file = join(path, fileName);
        try {
          const { size } = await stat(file);
          if (size > maxBytes) throw new RangeError('The file is too large.');
          restoreContent(await readFile(file, 'utf8'));
        } catch (err) {
          // An instance that ended soon after its start has no snapshot.
          if ((err as NodeJS.ErrnoException).code === 'ENOENT') continue;
          log.warn({ err, path }, 'a snapshot in the spool folder is not readable');
        }
      }
    },
  };
};
