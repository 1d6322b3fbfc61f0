import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '@platform/service-kit/problem';
import type { Sql } from 'postgres';

const pollMs = 50;

/** Players whose rows another transaction holds locked, so that batches can leave them out. */
export interface LockedPlayers extends AsyncDisposable {
  /** Whether the player was locked at the last check, which is repeated until the player is released. */
  has(playerId: string): boolean;
  /** Checks which of these players are locked now. Rejects when the database cannot tell. */
  check(playerIds: readonly string[]): Promise<void>;
  /**
   * Resolves when the player is released. Rejects with `Unavailable` when `deadline` (of `performance.now()`) has
   * passed, and when too many wait already.
   */
  untilReleased(playerId: string, deadline: number): Promise<void>;
  /** Calls of `untilReleased` that wait now. */
  waiting(): number;
  /** Players that are known to be locked. */
  count(): number;
}

interface Waiter {
  deadline: number;
  resolve(): void;
  reject(error: Unavailable): void;
}

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

export const createLockedPlayers = (sql: Sql, maxWaiting: number): LockedPlayers => {
  const waitersOf = new Map<string, Waiter[]>();
  let waiting = 0;
  let polling: Promise<void> | undefined;
  let stopping = false;

  const release = (playerId: string, waiters: readonly Waiter[]): void => {
    waitersOf.delete(playerId);
    for (const { resolve } of waiters) resolve();
  };

  const refuseLate = (playerId: string, waiters: readonly Waiter[], now: number): void => {
    const { late = [], rest = [] } = Object.groupBy(waiters, ({ deadline }) =>
      deadline <= now ? 'late' : 'rest',
    );
    waitersOf.set(playerId, rest);
    for (const { reject } of late) reject(createRefusal());
  };

  const poll = async (): Promise<void> => {
    while (waitersOf.size > 0 && !stopping) {
      await sleep(pollMs);
      // When the check fails, the commands run and meet the failure themselves.
      const locked = await selectLocked(sql, [...waitersOf.keys()]).catch(() => new Set<string>());
      for (const [playerId, waiters] of waitersOf)
        if (locked.has(playerId)) refuseLate(playerId, waiters, stopping ? Infinity : performance.now());
        else release(playerId, waiters);
    }
    polling = undefined;
  };

  return {
    has: (playerId) => waitersOf.has(playerId),
    check: async (playerIds) => {
      for (const playerId of await selectLocked(sql, playerIds))
        if (!waitersOf.has(playerId)) waitersOf.set(playerId, []);
      if (waitersOf.size > 0) polling ??= poll();
    },
    untilReleased: async (playerId, deadline) => {
      const waiters = waitersOf.get(playerId);
      if (waiters === undefined) return;
      if (waiting >= maxWaiting) throw createRefusal();
      waiting += 1;
      await new Promise<void>((resolve, reject) => waiters.push({ deadline, resolve, reject })).finally(
        () => {
          waiting -= 1;
        },
      );
    },
    waiting: () => waiting,
    count: () => waitersOf.size,
    [Symbol.asyncDispose]: async () => {
      stopping = true;
      await polling;
    },
  };
};
