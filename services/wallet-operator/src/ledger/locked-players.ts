import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '@platform/service-kit/problem';
import { withTimeout } from '@platform/service-kit/timeout';
import type { Sql } from 'postgres';

const pollMs = 50;

const createRefusal = (): Unavailable =>
  new Unavailable('player_locked', 'Another transaction holds this player; try again shortly.');

/** Rows that cannot be locked at once. The locks that the statement gets end with it. */
const selectLocked = async (sql: Sql, playerIds: readonly string[]): Promise<Set<string>> => {
  const rows = await sql<{ playerId: string }[]>`
    with free as (
      select player_id from players where player_id = any (${playerIds}::text[]) for no key update skip locked
    )
    select player_id as "playerId" from players
    where player_id = any (${playerIds}::text[]) and player_id not in (select player_id from free)`;
  return new Set(rows.map(({ playerId }) => playerId));
};

/** Players whose rows another transaction holds locked, so that batches can leave them out. */
export const createLockedPlayers = (sql: Sql, maxWaiting: number) => {
  /** Of each player: resolves when the player is released, and rejects at disposal. */
  const held = new Map<string, PromiseWithResolvers<void>>();
  let waiting = 0;
  let polling: Promise<void> | undefined;

  const poll = async (): Promise<void> => {
    while (held.size > 0) {
      await sleep(pollMs);
      // When the check fails, the commands run and meet the failure themselves.
      const locked = await selectLocked(sql, [...held.keys()]).catch(() => new Set<string>());
      for (const [playerId, { resolve }] of held) {
        if (locked.has(playerId)) continue;
        held.delete(playerId);
        resolve();
      }
    }
    polling = undefined;
  };

  const hold = (playerId: string): void => {
    const released = Promise.withResolvers<void>();
    // A rejection that nobody waits for would end the process.
    released.promise.catch(() => undefined);
    held.set(playerId, released);
  };

  return {
    /** Whether the player was locked at the last check, which is repeated until the player is released. */
    has: (playerId: string): boolean => held.has(playerId),
    /** Checks which of these players are locked now. Rejects when the database cannot tell. */
    check: async (playerIds: readonly string[]): Promise<void> => {
      for (const playerId of await selectLocked(sql, playerIds)) if (!held.has(playerId)) hold(playerId);
      if (held.size > 0) polling ??= poll();
    },
    /**
     * Resolves when the player is released. Rejects with `Unavailable` when `deadline` (of `performance.now()`) has
     * passed, and when too many wait already.
     */
    untilReleased: async (playerId: string, deadline: number): Promise<void> => {
      const released = held.get(playerId);
      if (released === undefined) return;
      if (waiting >= maxWaiting) throw createRefusal();
      waiting += 1;
      await withTimeout(deadline - performance.now(), createRefusal, released.promise).finally(() => {
        waiting -= 1;
      });
    },
    /** Calls of `untilReleased` that wait now. */
    waiting: (): number => waiting,
    /** Players that are known to be locked. */
    count: (): number => held.size,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      for (const { reject } of held.values()) reject(createRefusal());
      held.clear();
      await polling;
    },
  };
};
