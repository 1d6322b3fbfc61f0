import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import { createLru } from '@platform/service-kit/lru';
import { networkOf } from '@platform/service-kit/network';
import type { Sql } from 'postgres';
import { updateLastUse, type SessionUse } from './queries.ts';
import type { SessionName } from './refresh-token.ts';

/** How exactly the last use of a session is known. */
const exactMs = 300_000;
const maxSessions = 10_000;
/** Sessions that one statement updates. */
const atOnce = 1000;

/**
 * Remembers when and from which network sessions are used, to five minutes. No request waits for it, and the sessions of
 * two seconds are one statement. What is lost with the process is noted again five minutes later.
 */
export const createLastUse = (sql: Sql, log: Log) => {
  const noted = createLru<string, true>(maxSessions, exactMs);
  const waiting = new Map<string, SessionUse>();
  const writing = startBackground({
    name: 'last use of sessions',
    everyMs: 2000,
    idleMs: exactMs,
    log,
    run: async () => {
      const uses = [...waiting.values()].slice(0, atOnce);
      for (const { id } of uses) waiting.delete(id);
      if (uses.length > 0) await updateLastUse(sql, uses);
      return uses.length === atOnce;
    },
  });
  return {
    note: ({ userId, id }: SessionName, address: string | undefined): void => {
      if (noted.has(id)) return;
      noted.set(id, true);
      waiting.set(id, { userId, id, network: networkOf(address) });
      writing.hint();
    },
    [Symbol.asyncDispose]: writing[Symbol.asyncDispose],
  };
};
