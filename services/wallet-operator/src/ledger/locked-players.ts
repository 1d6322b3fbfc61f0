import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '@platform/service-kit/problem';
import { withTimeout } from '@platform/service-kit/timeout';
import type { Sql } from 'postgres';

const pollMs = 50;

const playerLocked = (): Unavailable =>
  new Unavailable('player_locked', 'Another transaction holds this player; try again shortly.');

/** Players whose rows cannot be locked immediately. The locks that this statement takes end with it. */
const selectLocked = async (sql: Sql, playerIds: readonly string[]): Promise<Set<string>> => {
  const rows = await sql<{ playerId: string }[]>`
    with free as (
      select player_id from players where player_id = any (${playerIds}::text[]) for no key update skip locked
    )
    select player_id as "playerId" from players
    where player_id = any (${playerIds}::text[]) and player_id not in (select player_id from free)`;
  return new Set(rows.map(({ playerId }) => playerId));
};

/** Tracks players whose rows another transaction has locked, so that batches can leave them out. */
export const createLockedPlayers = (sql: Sql, maxWaiting: number) => {
  /** By player: resolves when the row is released, and rejects at disposal. */
  const held = new Map<string, PromiseWithResolvers<void>>();
  let waiting = 0;
  let polling: Promise<void> | undefined;

  const poll = async (): Promise<void> => {
    while (held.size > 0) {
      await sleep(pollMs);
      // If the check fails, the waiting commands run and get the error themselves.
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
    // An unhandled rejection would end the process.
    released.promise.catch(() => undefined);
    held.set(playerId, released);
  };

  return {
    /** Whether the player was locked at the last check, which is repeated until the player is released. */
    has: (playerId: string): boolean => held.has(playerId),
    /** Checks which of these players are locked now. Rejects when the database is unavailable. */
    check: async (playerIds: readonly string[]): Promise<void> => {
      for (const playerId of await selectLocked(sql, playerIds)) if (!held.has(playerId)) hold(playerId);
      if (held.size > 0) polling ??= poll();
    },
    /** Resolves when the player is released. Rejects with `Unavailable` at `deadline` (`performance.now()`), or if too many wait. */
    untilReleased: async (playerId: string, deadline: number): Promise<void> => {
      const released = held.get(playerId);
      if (released === undefined) return;
      if (waiting >= maxWaiting) throw playerLocked();
      waiting += 1;
      await withTimeout(deadline - performance.now(), playerLocked, released.promise).finally(() => {
        waiting -= 1;
      });
    },
    /** Number of calls of `untilReleased` that are waiting. */
    waiting: (): number => waiting,
    /** Number of players that are known to be locked. */
    count: (): number => held.size,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      for (const { reject } of held.values()) reject(playerLocked());
      held.clear();
      await polling;
    },
  };
};
