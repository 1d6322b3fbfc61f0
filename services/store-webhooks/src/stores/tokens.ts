import type { PathTokenRow } from '@platform/auth/path-tokens';
import type { Database } from '@platform/service-kit/db';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { eq, sql as expression } from 'drizzle-orm';
import type { Sql } from 'postgres';
import { stores, webhookTokens, type StoreRow } from '../db/tables.ts';
import type { KnownStore } from './known-store.ts';
import type { TokenPurpose } from './settings.ts';

export interface TokenRow extends PathTokenRow {
  store: KnownStore;
  purpose: TokenPurpose;
}

/** Finds a token and its store by the token's hash. */
export const createTokenFinder = ({ orm }: Database, open: (row: StoreRow) => KnownStore) => {
  const query = orm
    .select({
      tokenHash: webhookTokens.tokenHash,
      purpose: webhookTokens.purpose,
      graceUntil: webhookTokens.graceUntil,
      store: stores,
    })
    .from(webhookTokens)
    .innerJoin(stores, eq(stores.id, webhookTokens.storeId))
    .where(eq(webhookTokens.tokenHash, expression.placeholder('hash')))
    .prepare('find_token');
  return async (hash: string): Promise<TokenRow | undefined> => {
    const [row] = await query.execute({ hash });
    return row && { ...row, store: open(row.store) };
  };
};

export interface OldUses extends AsyncDisposable {
  count(tokenHash: string): void;
  flush(): Promise<void>;
}

const flushMs = 1000;

/** Counts how often replaced tokens are still used; writes the counts at most once a second. */
export const createOldUses = (sql: Sql): OldUses => {
  let counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const written = [...counts];
    if (written.length === 0) return;
    counts = new Map();
    await sql`
      update webhook_tokens t set uses = t.uses + used.times, last_used_at = now()
      from unnest(${written.map(([hash]) => hash)}::text[], ${written.map(([, times]) => times)}::int[])
        as used (hash, times)
      where t.token_hash = used.hash`;
  };
  return {
    count: (tokenHash) => {
      counts.set(tokenHash, (counts.get(tokenHash) ?? 0) + 1);
      // Counts that cannot be written are lost: they only inform, so they fail neither a request nor the shutdown.
      timer ??= runOutsideRequest(() =>
        setTimeout(() => void flush().catch(() => undefined), flushMs).unref(),
      );
    },
    flush,
    [Symbol.asyncDispose]: () => flush().catch(() => undefined),
  };
};
