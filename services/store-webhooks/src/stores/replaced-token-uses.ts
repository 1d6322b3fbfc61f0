import { runOutsideRequest } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';

export type ReplacedTokenUses = ReturnType<typeof createReplacedTokenUses>;

const flushMs = 1000;

/** Counts how often replaced tokens are still used. Writes the counts to the database at most once a second. */
export const createReplacedTokenUses = (sql: Sql) => {
  let counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const entries = [...counts];
    if (entries.length === 0) return;
    counts = new Map();
    await sql`
      update webhook_tokens t set uses = t.uses + used.times, last_used_at = now()
      from unnest(${entries.map(([hash]) => hash)}::text[], ${entries.map(([, times]) => times)}::int[])
        as used (hash, times)
      where t.token_hash = used.hash`;
  };
  return {
    count: (tokenHash: string): void => {
      counts.set(tokenHash, (counts.get(tokenHash) ?? 0) + 1);
      // Counts that cannot be written are lost: they are informational and must not fail a request or the shutdown.
      timer ??= runOutsideRequest(() =>
        setTimeout(() => void flush().catch(() => undefined), flushMs).unref(),
      );
    },
    flush,
    [Symbol.asyncDispose]: () => flush().catch(() => undefined),
  };
};
