import type { PathTokens, VerifiedToken } from '@platform/auth/path-tokens';
import type { KnownStore, TokenRow } from '../../stores/known-store.ts';
import type { Rotations } from '../../stores/rotations.ts';
import type { StoreRow } from '../../db/tables.ts';
import type { DatabaseClock } from '../../db/clock.ts';
import type { OutageSnapshot } from './saved-snapshot.ts';

/** After this long the snapshot is taken again even if no token was added or removed. */
const refreshMs = 60_000;

interface Content {
  /** How far the clock of the database is ahead of the clock of this machine. */
  aheadMs: number;
  tokens: VerifiedToken<Omit<TokenRow, 'store'> & { store: StoreRow }>[];
}

interface Sources {
  tokens: PathTokens<TokenRow>;
  rotations: Pick<Rotations, 'reread'>;
  clock: DatabaseClock;
  openStore(row: StoreRow): KnownStore;
}

/**
 * What an instance needs to accept webhooks when it starts without a database: the hashes of the tokens that were
 * verified recently, their stores with encrypted credentials, and the clock. Contains no token.
 */
export const createOutageSnapshot = ({ tokens, rotations, clock, openStore }: Sources): OutageSnapshot => {
  let latest = { text: '', changes: -1, takenAt: 0 };
  const content = (): Content => ({
    aheadMs: clock.aheadMs,
    tokens: tokens
      .verified()
      .map(({ row, expiresAt }) => ({ row: { ...row, store: row.store.row }, expiresAt })),
  });
  return {
    take: () => {
      const now = performance.now();
      if (tokens.changes !== latest.changes || now - latest.takenAt > refreshMs)
        latest = { text: JSON.stringify(content()), changes: tokens.changes, takenAt: now };
      return latest.text;
    },
    restore: (text) => {
      const { aheadMs, tokens: earlier } = JSON.parse(text) as Content;
      clock.restore(aheadMs);
      tokens.restore(
        earlier.map(({ row, expiresAt }) => ({ row: { ...row, store: openStore(row.store) }, expiresAt })),
      );
      rotations.reread();
    },
  };
};
