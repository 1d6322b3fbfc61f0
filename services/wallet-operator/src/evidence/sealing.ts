import { startBackground, type Background } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import { checkpointHash, noCheckpoint, signCheckpoint, type Checkpoint } from './checkpoint.ts';
import type { SealingKey } from './keys.ts';
import { hashBytes, merkleLevels, rootOf } from './merkle.ts';
import {
  databaseTime,
  insertRange,
  keepKey,
  leavesOfRuns,
  lockSealing,
  newestCheckpoint,
  playersAfter,
  unsealedRuns,
  type Run,
} from './store.ts';

/** Entries of a range at most: hashing them takes this process some two milliseconds. */
const maxEntries = 2048;

/** Players of a range at most. */
const maxPlayers = 1000;

/** How often all players are looked through, for entries that a process wrote which ended before it sealed them. */
const walkEveryMs = 3_600_000;

const lengthOf = ({ firstSeq, lastSeq }: Run): number => Number(BigInt(lastSeq) - BigInt(firstSeq)) + 1;

/** As many runs as fit into a range; the last one may be cut. */
const takeRuns = (runs: readonly Run[], most: number): Run[] => {
  const taken: Run[] = [];
  let room = most;
  for (const run of runs) {
    if (room === 0) break;
    const length = Math.min(room, lengthOf(run));
    taken.push({ ...run, lastSeq: String(BigInt(run.firstSeq) + BigInt(length - 1)) });
    room -= length;
  }
  return taken;
};

/**
 * Seals what is not sealed of these players, up to `most` entries, in one transaction. No callback waits for it: it only
 * reads entries, which never change. Returns the checkpoint, and the players of whom entries are left.
 * Throws when an entry is missing; the proof of the ledger names it.
 */
export const sealPlayers = (
  sql: Sql,
  key: SealingKey,
  playerIds: readonly string[],
  most = maxEntries,
): Promise<{ checkpoint?: Checkpoint; left: string[] }> =>
  sql.begin(async (tx) => {
    await lockSealing(tx);
    const unsealed = await unsealedRuns(tx, playerIds);
    const runs = takeRuns(unsealed, most);
    if (runs.length === 0) return { left: [] };
    const entries = runs.reduce((sum, run) => sum + lengthOf(run), 0);
    const leaves = await leavesOfRuns(tx, runs);
    if (leaves.length !== entries * hashBytes)
      throw new Error('entries are missing in the ledger; run the proof');
    const newest = await newestCheckpoint(tx);
    const range = {
      number: (newest?.number ?? 0) + 1,
      entries,
      total: (newest?.total ?? 0) + entries,
      previous: newest === undefined ? noCheckpoint : checkpointHash(newest),
      root: rootOf(merkleLevels(leaves)),
      sealedAt: await databaseTime(tx),
    };
    const checkpoint = signCheckpoint(range, key);
    if (newest?.keyId !== key.keyId) await keepKey(tx, key.keyId, key.x);
    await insertRange(tx, checkpoint, runs);
    const whole = new Set(
      runs.filter(({ lastSeq }, at) => unsealed[at]?.lastSeq === lastSeq).map((run) => run.playerId),
    );
    return { checkpoint, left: unsealed.map(({ playerId }) => playerId).filter((id) => !whole.has(id)) };
  }) as Promise<{ checkpoint?: Checkpoint; left: string[] }>;

export interface Sealing extends AsyncDisposable {
  /** Notes that the player has a new entry. */
  note(playerId: string): void;
  /** How long the oldest noted entry has waited, in seconds; 0 when all are sealed. */
  waitingSeconds(): number;
}

/** Seals the entries of this process every `everyMs`, and once an hour what any other process left unsealed. */
export const startSealing = (
  sql: Sql,
  key: SealingKey,
  { everyMs, log }: { everyMs: number; log: Log },
): Sealing => {
  /** Players with new entries, and since when they wait; the oldest first. */
  let noted = new Map<string, number>();
  let walkedTo: string | undefined = '';
  let nextWalk = 0;

  const note = (playerId: string): void => {
    if (!noted.has(playerId)) noted.set(playerId, performance.now());
  };
  const take = (): Map<string, number> => {
    const taken = new Map([...noted].slice(0, maxPlayers));
    for (const playerId of taken.keys()) noted.delete(playerId);
    return taken;
  };
  /** The next players of the hourly walk. */
  const walk = async (): Promise<string[]> => {
    if (walkedTo === undefined && performance.now() < nextWalk) return [];
    const players = await playersAfter(sql, walkedTo ?? '', maxPlayers);
    walkedTo = players.at(-1);
    if (walkedTo === undefined) nextWalk = performance.now() + walkEveryMs;
    return players;
  };
  const run = async (): Promise<boolean> => {
    const walked = await walk();
    const taken = take();
    if (taken.size + walked.length === 0) return false;
    try {
      const { left } = await sealPlayers(sql, key, [...new Set([...taken.keys(), ...walked])]);
      for (const playerId of left) note(playerId);
      return left.length > 0 || noted.size >= maxPlayers || walkedTo !== undefined;
    } catch (error) {
      noted = new Map([
        ...taken,
        ...walked.map((playerId) => [playerId, performance.now()] as const),
        ...noted,
      ]);
      throw error;
    }
  };
  const background: Background = startBackground({ name: 'sealing', everyMs, log, run });
  return {
    note,
    waitingSeconds: () => {
      const [oldest] = noted.values();
      return oldest === undefined ? 0 : (performance.now() - oldest) / 1000;
    },
    [Symbol.asyncDispose]: () => background[Symbol.asyncDispose](),
  };
};
