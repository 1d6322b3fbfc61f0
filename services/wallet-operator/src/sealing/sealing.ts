import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql, TransactionSql } from 'postgres';
import { SafeError } from '@platform/service-kit/safe-error';
import {
  checkpointHash,
  isSigned,
  noCheckpoint,
  signCheckpoint,
  type Checkpoint,
} from '@platform/sealed-log/checkpoint';
import type { SealingKey } from '@platform/sealed-log/keys';
import { hashBytes, merkleLevels, rootOf } from '@platform/sealed-log/merkle';
import { databaseNow } from '../db/time.ts';
import {
  insertCheckpoint,
  leavesOfRuns,
  lockHead,
  newestCheckpoints,
  playersAfter,
  trustKey,
  trustedKeys,
  unsealedRuns,
  type Run,
  type SealedHead,
} from './queries.ts';

/** Maximum number of entries of a checkpoint: hashing them takes some two milliseconds. */
const maxEntries = 2048;

/** Maximum number of players of a checkpoint. */
const maxPlayers = 1000;

/** How often all players are checked for entries that another process has written, and not sealed before its end. */
const walkEveryMs = 3_600_000;

/** The checkpoints in the database differ from the signed ones. */
export class ChainRewritten extends SafeError {
  override name = 'ChainRewritten';
}

const lengthOf = ({ firstSeq, lastSeq }: Run): number => Number(BigInt(lastSeq) - BigInt(firstSeq)) + 1;

/** The first runs with at most `maxLength` entries in total; the last one may be shortened. */
export const takeRuns = (runs: readonly Run[], maxLength: number): Run[] => {
  const taken: Run[] = [];
  let room = maxLength;
  for (const run of runs) {
    if (room === 0) break;
    const length = Math.min(room, lengthOf(run));
    taken.push({ ...run, lastSeq: String(BigInt(run.firstSeq) + BigInt(length - 1)) });
    room -= length;
  }
  return taken;
};

interface Sealed {
  checkpoint?: Checkpoint;
  /** Players with more entries to seal. */
  left: string[];
  /** Players with a missing entry, none of whose entries was sealed. */
  damaged: string[];
}

/** Whether the newest checkpoint in the database is the last signed one. */
export const isHead = ({ number, hash }: SealedHead, newest: Checkpoint | undefined): boolean =>
  number === (newest?.number ?? 0) && hash === (newest === undefined ? noCheckpoint : checkpointHash(newest));

/** The newest checkpoint. Throws ChainRewritten when it is not the last one that any process has signed. */
const trustedNewest = async (tx: TransactionSql): Promise<Checkpoint | undefined> => {
  const head = await lockHead(tx);
  const [newest] = await newestCheckpoints(tx, 0n, 1);
  if (!isHead(head, newest)) throw new ChainRewritten(`checkpoint ${head.number} was rewritten or removed`);
  if (newest === undefined) return undefined;
  const publicKey = (await trustedKeys(tx)).get(newest.keyId);
  if (publicKey === undefined || !isSigned(newest, publicKey))
    throw new ChainRewritten(`the signature of checkpoint ${newest.number} is wrong`);
  return newest;
};

/**
 * Seals unsealed entries of these players in one transaction. Callbacks do not wait for it, because it only reads entries.
 * Throws ChainRewritten, and seals nothing, when the checkpoints differ from the signed ones.
 */
export const sealPlayers = (
  sql: Sql,
  key: SealingKey,
  playerIds: readonly string[],
  limit = maxEntries,
): Promise<Sealed> =>
  sql.begin(async (tx) => {
    const newest = await trustedNewest(tx);
    const unsealed = await unsealedRuns(tx, playerIds);
    const taken = takeRuns(unsealed, limit);
    const leavesOf = await leavesOfRuns(tx, taken);
    const isComplete = (run: Run) => leavesOf.get(run.playerId)?.length === lengthOf(run) * hashBytes;
    const runs = taken.filter(isComplete);
    const damaged = taken.filter((run) => !isComplete(run)).map(({ playerId }) => playerId);
    // Without damaged players, who would be tried again before all others.
    const left = unsealed
      .filter(
        ({ playerId, lastSeq }, index) => taken[index]?.lastSeq !== lastSeq && !damaged.includes(playerId),
      )
      .map(({ playerId }) => playerId);
    if (runs.length === 0) return { left, damaged };
    const leaves = Buffer.concat(runs.map(({ playerId }) => leavesOf.get(playerId) ?? Buffer.alloc(0)));
    const entries = leaves.length / hashBytes;
    const range = {
      number: (newest?.number ?? 0) + 1,
      entries,
      total: (newest?.total ?? 0) + entries,
      previous: newest === undefined ? noCheckpoint : checkpointHash(newest),
      root: rootOf(merkleLevels(leaves)),
      sealedAt: (await databaseNow(tx)).toISOString(),
    };
    const checkpoint = signCheckpoint(range, key);
    await insertCheckpoint(tx, checkpoint, runs);
    return { checkpoint, left, damaged };
  }) as Promise<Sealed>;

export type Sealing = ReturnType<typeof startSealing>;

/** Maximum number of checkpoints that are signed when the process stops; the next process seals the rest. */
const maxLastCheckpoints = 20;

/**
 * Seals the entries of this process every `everyMs` and when it stops, and every hour the unsealed entries of other processes.
 * Signs nothing more when the last signed checkpoint is missing. Also logs each checkpoint, because an intruder in the
 * database cannot change the log.
 */
export const startSealing = (sql: Sql, key: SealingKey, { everyMs, log }: { everyMs: number; log: Log }) => {
  /** Players with new entries, and the time since which they wait; oldest first. */
  let noted = new Map<string, number>();
  /** The last player of the current walk; undefined between two walks. */
  let walkedTo: string | undefined = '';
  let nextWalk = 0;
  let isKeyTrusted = false;
  /** The time since which all runs have failed. */
  let failingSince: number | undefined;
  const reported = new Set<string>();

  const take = (): Map<string, number> => {
    const taken = new Map<string, number>();
    for (const [playerId, since] of noted) {
      if (taken.size === maxPlayers) break;
      taken.set(playerId, since);
      noted.delete(playerId);
    }
    return taken;
  };
  /** The next players of the hourly walk over all players. */
  const walk = async (): Promise<string[]> => {
    if (walkedTo === undefined && performance.now() < nextWalk) return [];
    const players = await playersAfter(sql, walkedTo ?? '', maxPlayers);
    walkedTo = players.at(-1);
    if (walkedTo === undefined) nextWalk = performance.now() + walkEveryMs;
    return players;
  };
  /** Returns the players with more entries to seal. */
  const seal = async (taken: Map<string, number>): Promise<string[]> => {
    const { checkpoint, left, damaged } = await sealPlayers(sql, key, [...taken.keys()]);
    if (checkpoint) log.info({ ...checkpoint, hash: checkpointHash(checkpoint) }, 'checkpoint signed');
    for (const playerId of damaged.filter((id) => !reported.has(id))) {
      log.fatal({ playerId }, 'an entry of the player is missing; run the proof');
      reported.add(playerId);
    }
    return left;
  };
  const run = async (): Promise<boolean> => {
    const taken = take();
    try {
      // The walk waits while more players are noted than one checkpoint takes.
      if (noted.size === 0)
        for (const playerId of await walk()) taken.set(playerId, taken.get(playerId) ?? performance.now());
      if (!isKeyTrusted) await trustKey(sql, key);
      isKeyTrusted = true;
      const left = taken.size === 0 ? [] : await seal(taken);
      failingSince = undefined;
      noted = new Map([...left.map((id) => [id, taken.get(id) ?? performance.now()] as const), ...noted]);
      return noted.size >= maxPlayers || left.length > 0 || walkedTo !== undefined;
    } catch (error) {
      failingSince ??= performance.now();
      noted = new Map([...taken, ...noted]);
      if (error instanceof ChainRewritten) log.fatal({ err: error }, 'entries are not sealed any more');
      throw error;
    }
  };
  const background = startBackground({ name: 'sealing', everyMs, log, run });
  return {
    /** Notes that the player has a new entry. */
    note: (playerId: string): void => {
      if (!noted.has(playerId)) noted.set(playerId, performance.now());
    },
    /** Seconds for which the oldest noted entry has waited, or sealing has failed; 0 when all entries are sealed. */
    waitingSeconds: (): number => {
      const now = performance.now();
      const [oldest = now] = noted.values();
      return (now - Math.min(oldest, failingSince ?? now)) / 1000;
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await background[Symbol.asyncDispose]();
      for (let count = 0; count < maxLastCheckpoints && noted.size > 0; count++) {
        // If this fails, the next process seals the rest.
        await run().catch(() => noted.clear());
      }
    },
  };
};
