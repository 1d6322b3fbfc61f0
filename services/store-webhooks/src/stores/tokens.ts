import type { PathTokenRow } from '@platform/auth/path-tokens';
import type { Sql } from 'postgres';
import type { TokenPurpose } from './settings.ts';
import type { KnownStore, StoreRow } from './known-store.ts';

export interface TokenRow extends PathTokenRow {
  store: KnownStore;
  purpose: TokenPurpose;
}

interface Found extends StoreRow {
  tokenHash: string;
  purpose: TokenPurpose;
  graceUntil: Date | string | null;
}

/** The store that a token's hash belongs to. */
export const findToken = async (
  sql: Sql,
  open: (row: StoreRow) => KnownStore,
  tokenHash: string,
): Promise<TokenRow | undefined> => {
  const [row] = await sql<Found[]>`
    select t.token_hash as "tokenHash", t.purpose, t.grace_until as "graceUntil",
      s.id, s.name, s.store_url as "storeUrl", s.settings, s.credentials
    from webhook_tokens t join stores s on s.id = t.store_id where t.token_hash = ${tokenHash}`;
  if (row === undefined) return undefined;
  const { graceUntil, purpose, tokenHash: hash, ...store } = row;
  return {
    tokenHash: hash,
    purpose,
    graceUntil: graceUntil === null ? null : new Date(graceUntil),
    store: open(store),
  };
};

export interface OldUses extends AsyncDisposable {
  count(tokenHash: string): void;
  flush(): Promise<void>;
}

const gatherMs = 1000;

/** Counts how often rotated-out tokens are still used; written down once a second at most. */
export const createOldUses = (sql: Sql, now: () => Date): OldUses => {
  let counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const written = [...counts];
    if (written.length === 0) return;
    counts = new Map();
    await sql`
      update webhook_tokens t set uses = t.uses + used.times, last_used_at = ${now().toISOString()}
      from unnest(${written.map(([hash]) => hash)}::text[], ${written.map(([, times]) => times)}::int[])
        as used (hash, times)
      where t.token_hash = used.hash`;
  };
  return {
    count: (tokenHash) => {
      counts.set(tokenHash, (counts.get(tokenHash) ?? 0) + 1);
      // A count that is lost with the database is not worth a failure.
      timer ??= setTimeout(() => void flush().catch(() => undefined), gatherMs).unref();
    },
    flush,
    [Symbol.asyncDispose]: () => flush().catch(() => undefined),
  };
};
