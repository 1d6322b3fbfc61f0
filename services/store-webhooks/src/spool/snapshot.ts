import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PathTokens } from '@platform/auth/path-tokens';
import type { Log } from '@platform/service-kit/log';
import { v7 } from 'uuid';
import type { DatabaseClock } from '../inbox/clock.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { StoreRow } from '../stores/store.ts';
import type { TokenRow } from '../stores/tokens.ts';
import { safeError } from '../tracker/failure.ts';

/** What a process needs that starts while the database is unavailable; kept beside the events. */
export interface Snapshot {
  /** Writes the snapshot of this process, if it has changed. */
  save(): Promise<void>;
  /** Restores the snapshots of all processes, running or not, and removes the old ones. */
  restore(): Promise<void>;
}

/** After this long the snapshot is written again even if no token was added or removed. */
const refreshMs = 60_000;
/** An older snapshot belongs to a process that has ended long ago. */
const keptMs = 24 * 3_600_000;
const ending = '.snapshot.json';

interface Content {
  /** How far the clock of the database is ahead of the clock of this machine. */
  aheadMs: number;
  tokens: {
    tokenHash: string;
    purpose: TokenRow['purpose'];
    graceUntil: string | null;
    expiresAt: number;
    store: StoreRow;
  }[];
}

interface Sources {
  tokens: PathTokens<TokenRow>;
  clock: DatabaseClock;
  openStore(row: StoreRow): KnownStore;
  folder: string;
  log: Log;
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

/**
 * Keeps in `folder` what a process needs to accept webhooks when it starts without a database: the hashes of the tokens
 * that were verified recently, their stores with encrypted credentials, and the clock. Contains no token.
 */
export const createSnapshot = ({ tokens, clock, openStore, folder, log }: Sources): Snapshot => {
  const own = join(folder, `${v7()}${ending}`);
  let saved = { changes: -1, at: -Infinity };

  const content = (): Content => ({
    aheadMs: clock.aheadMs,
    tokens: tokens.verified().map(({ row: { tokenHash, purpose, graceUntil, store }, expiresAt }) => ({
      tokenHash,
      purpose,
      graceUntil: graceUntil?.toISOString() ?? null,
      expiresAt,
      store: store.row,
    })),
  });
  const restore = ({ aheadMs, tokens: earlier }: Content): void => {
    clock.restore(aheadMs);
    for (const { store, graceUntil, expiresAt, ...row } of earlier) {
      const known = { ...row, graceUntil: graceUntil === null ? null : new Date(graceUntil) };
      tokens.restore([{ row: { ...known, store: openStore(store) }, expiresAt }]);
    }
  };
  return {
    save: async () => {
      const now = { changes: tokens.changes, at: performance.now() };
      if (now.changes === saved.changes && now.at - saved.at < refreshMs) return;
      await replaceFile(own, JSON.stringify(content()));
      saved = now;
    },
    restore: async () => {
      const names = (await readdir(folder)).filter((name) => name.endsWith(ending));
      for (const path of names.map((name) => join(folder, name))) {
        try {
          const { mtimeMs } = await stat(path);
          restore(JSON.parse(await readFile(path, 'utf8')) as Content);
          if (mtimeMs < Date.now() - keptMs) await rm(path);
        } catch (err) {
          log.warn({ err: safeError(err), path }, 'a snapshot beside the spool is not readable');
        }
      }
    },
  };
};
