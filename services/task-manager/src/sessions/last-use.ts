import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import { createLru } from '@platform/service-kit/lru';
import { networkOf } from '@platform/service-kit/network';
import type { Sql } from 'postgres';
import { updateLastUse, type SessionUse } from './queries.ts';
import type { SessionIds } from './refresh-token.ts';

/** The last use of a session is stored at most this often. */
const precisionMs = 300_000;
const maxSessions = 10_000;
/** Maximum number of sessions that one statement updates. */
const batchSize = 1000;

/**
 * Stores when and from which network sessions are used, with a precision of five minutes. Requests do not wait for it: uses are
 * collected for two seconds and written in one statement. Uses lost in a crash are stored again within five minutes.
 */
export const createLastUse = (sql: Sql, log: Log) => {
  const recentlyNoted = createLru<string, true>(maxSessions, precisionMs);
  const pendingUses = new Map<string, SessionUse>();
  const writing = startBackground({
    name: 'last use of sessions',
    everyMs: 2000,
    idleMs: precisionMs,
    log,
    run: async () => {
      const uses = [...pendingUses.values()].slice(0, batchSize);
      for (const { id } of uses) pendingUses.delete(id);
      if (uses.length > 0) await updateLastUse(sql, uses);
      return uses.length === batchSize;
    },
  });
  return {
    note: ({ userId, id }: SessionIds, address: string | undefined): void => {
      if (recentlyNoted.has(id)) return;
      recentlyNoted.set(id, true);
      pendingUses.set(id, { userId, id, network: networkOf(address) });
      writing.hint();
    },
    [Symbol.asyncDispose]: writing[Symbol.asyncDispose],
  };
};
