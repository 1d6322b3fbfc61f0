import type { KeyObject } from 'node:crypto';
import { checkpointHash, follows, type Checkpoint } from '@platform/sealed-log/checkpoint';
import { hashBytes, merkleLevels, rootOf } from '@platform/sealed-log/merkle';
import { checkSignature, NotProven } from '@platform/sealed-log/verify';
import type { ISql, Sql } from 'postgres';
import {
  checkpointsAfter,
  checkpointsByNumber,
  leavesOfCheckpoints,
  newestCheckpoints,
  readHead,
  runsOfCheckpoints,
  trustedKeys,
  type Run,
} from './queries.ts';
import { isHead } from './sealing.ts';

export type { Run } from './queries.ts';

/** The message for a checkpoint whose root differs from that of its current entries. */
export const changedEntriesMessage = (number: number): string =>
  `checkpoint ${number}: its entries, or the currency of a player, were changed after they were sealed`;

type Keys = ReadonlyMap<string, KeyObject>;

interface Compared {
  checkpoint: Checkpoint;
  /** What has changed since it was sealed. */
  fault: string | undefined;
}

/** What is wrong with a checkpoint after `before`; `leaves` are the hashes of its entries as they are now. */
const faultOf = (
  checkpoint: Checkpoint,
  before: Checkpoint | undefined,
  leaves: Buffer,
  keys: Keys,
): string | undefined => {
  const { number, root, entries } = checkpoint;
  if (!follows(checkpoint, before)) return `checkpoint ${number} does not follow from the one before it`;
  try {
    checkSignature(checkpoint, keys);
  } catch (error) {
    if (!(error instanceof NotProven)) throw error;
    return error.message;
  }
  const isSame = leaves.length === entries * hashBytes && rootOf(merkleLevels(leaves)) === root;
  return isSame ? undefined : changedEntriesMessage(number);
};

/** Compares the next checkpoints after `after`, at most `limit`, with their entries, signatures and each other. */
const compareNext = async (sql: ISql, after: number, limit: number, keys: Keys): Promise<Compared[]> => {
  const checkpoints = await checkpointsAfter(sql, BigInt(after), limit);
  const [first, last] = [checkpoints[0], checkpoints.at(-1)];
  if (first === undefined || last === undefined) return [];
  const ranges = await leavesOfCheckpoints(sql, first.number, last.number);
  const leavesOf = new Map(ranges.map(({ number, leaves }) => [number, leaves]));
  const [before] = await checkpointsByNumber(sql, [after]);
  return checkpoints.map((checkpoint, at) => {
    const leaves = leavesOf.get(checkpoint.number) ?? Buffer.alloc(0);
    return { checkpoint, fault: faultOf(checkpoint, at === 0 ? before : checkpoints[at - 1], leaves, keys) };
  });
};

/** What is wrong with the newest checkpoint; undefined when it is the one that was signed last. */
export const headFault = async (sql: ISql): Promise<string | undefined> => {
  const head = await readHead(sql);
  const [newest] = await newestCheckpoints(sql, 0n, 1);
  return isHead(head, newest) ? undefined : `checkpoint ${head.number} was rewritten or removed`;
};

interface Slice {
  /** Number of the last checkpoint of the slice; undefined when no more follow. */
  lastNumber: number | undefined;
  /** Its entries, as runs: consecutive entries of one player. */
  runs: readonly Run[];
  /** What has changed since it was sealed. */
  faults: string[];
}

/** Compares the next checkpoints after `after`, at most `limit`, with what they sealed. */
export const verifySlice = async (sql: ISql, after: number, limit: number): Promise<Slice> => {
  const compared = await compareNext(sql, after, limit, await trustedKeys(sql));
  const [first, last] = [compared[0]?.checkpoint.number, compared.at(-1)?.checkpoint.number];
  return {
    lastNumber: last,
    runs: first === undefined || last === undefined ? [] : await runsOfCheckpoints(sql, first, last),
    faults: compared.flatMap(({ fault }) => fault ?? []),
  };
};

/** Ranges that are read in one statement. */
const rangesAtOnce = 64;

/**
 * Verifies every checkpoint: its entries, its signature, its link to the one before, and that it equals the copy that a third
 * party `kept`. Returns the number of sealed entries. Throws NotProven, naming the first checkpoint that fails.
 */
export const verifySeals = async (
  sql: Sql,
  keys: Keys,
  kept: readonly Checkpoint[] = [],
): Promise<number> => {
  const keptHash = new Map(kept.map((checkpoint) => [checkpoint.number, checkpointHash(checkpoint)]));
  let newest: Checkpoint | undefined;
  let compared: Compared[];
  do {
    compared = await compareNext(sql, newest?.number ?? 0, rangesAtOnce, keys);
    for (const { checkpoint, fault } of compared) {
      const { number } = checkpoint;
      if (fault !== undefined) throw new NotProven(fault);
      const expected = keptHash.get(number);
      if (expected !== undefined && expected !== checkpointHash(checkpoint))
        throw new NotProven(`checkpoint ${number} was rewritten: it differs from the kept one`);
      keptHash.delete(number);
      newest = checkpoint;
    }
  } while (compared.length > 0);
  const [missing] = keptHash.keys();
  if (missing !== undefined)
    throw new NotProven(`checkpoint ${missing} was kept, and is not in the database`);
  return newest?.total ?? 0;
};
