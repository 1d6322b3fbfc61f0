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

/** The most entries of a range: hashing them takes this process some two milliseconds. */
const maxEntries = 2048;

/** The most players of a range. */
const maxPlayers = 1000;

/** How often the entries of all players are checked, because a process may have ended before it sealed what it wrote. */
const walkEveryMs = 3_600_000;

/** The checkpoints in the database are not those that were signed. */
export class ChainRewritten extends SafeError {
  override name = 'ChainRewritten';
}

const lengthOf = ({ firstSeq, lastSeq }: Run): number => Number(BigInt(lastSeq) - BigInt(firstSeq)) + 1;

/** The first runs with at most `maxLength` entries together; the last one may be cut. */
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
  /** Players who still have entries that can be sealed. */
  left: string[];
  /** Players with a missing entry: nothing of theirs was sealed. */
  damaged: string[];
}

/** Whether the newest checkpoint in the database is the one that was signed last. */
export const isHead = ({ number, hash }: SealedHead, newest: Checkpoint | undefined): boolean =>
  number === (newest?.number ?? 0) && hash === (newest === undefined ? noCheckpoint : checkpointHash(newest));

/** The newest checkpoint. Throws when it is not the one that was signed last, by any process: somebody rewrote the chain. */
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
 * Seals what is not sealed of these players in one transaction. No callback waits for it: it only reads entries, which
 * never change. Throws ChainRewritten when the chain is not what was signed; nothing is sealed then.
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
    const isWhole = (run: Run) => leavesOf.get(run.playerId)?.length === lengthOf(run) * hashBytes;
    const runs = taken.filter(isWhole);
    const damaged = taken.filter((run) => !isWhole(run)).map(({ playerId }) => playerId);
    const unfinished = {
      // A damaged player would be tried again and again before the others.
      left: unsealed
        .filter(({ playerId, lastSeq }, at) => taken[at]?.lastSeq !== lastSeq && !damaged.includes(playerId))
        .map(({ playerId }) => playerId),
      damaged,
    };
    if (runs.length === 0) return unfinished;
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
    return { checkpoint, ...unfinished };
  }) as Promise<Sealed>;

export type Sealing = ReturnType<typeof startSealing>;

/** The maximum number of ranges that are sealed when the process stops; the next process finds the rest. */
const lastRanges = 20;

/**
 * Seals the entries of this process every `everyMs` and when it stops, and once an hour what any other process left
 * unsealed. Before it signs, it looks for the checkpoint that was signed last: when it is gone, nothing is signed any more.
 * Each checkpoint is also a line of the log, which an intruder in the database cannot change.
 */
export const startSealing = (sql: Sql, key: SealingKey, { everyMs, log }: { everyMs: number; log: Log }) => {
  /** Players with new entries, and since when they wait; the oldest first. */
  let noted = new Map<string, number>();
  let walkedTo: string | undefined = '';
  let nextWalk = 0;
  let isKeyTrusted = false;
  /** Since when all runs failed. */
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
  /** The next players of the hourly walk. */
  const walk = async (): Promise<string[]> => {
    if (walkedTo === undefined && performance.now() < nextWalk) return [];
    const players = await playersAfter(sql, walkedTo ?? '', maxPlayers);
    walkedTo = players.at(-1);
    if (walkedTo === undefined) nextWalk = performance.now() + walkEveryMs;
    return players;
  };
  /** Returns the players who still have entries that can be sealed. */
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
      // While many players wait, the hourly walk looks for no more.
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
    /** How long the oldest noted entry has waited, or sealing has failed, in seconds; 0 when all are sealed. */
    waitingSeconds: (): number => {
      const now = performance.now();
      const [oldest = now] = noted.values();
      return (now - Math.min(oldest, failingSince ?? now)) / 1000;
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await background[Symbol.asyncDispose]();
      for (let ranges = 0; ranges < lastRanges && noted.size > 0; ranges++) {
        // The database may be gone; the next process finds what is left.
        await run().catch(() => noted.clear());
      }
    },
  };
};
