import type { KeyObject } from 'node:crypto';
import { checkpointHash, follows, type Checkpoint } from '@platform/sealed-log/checkpoint';
import { hashBytes, merkleLevels, rootOf } from '@platform/sealed-log/merkle';
import { checkSignature, NotProven } from '@platform/sealed-log/verify';
import { publicJwk, publicKeysOf } from '@platform/sealed-log/keys';
import type { ISql, Sql } from 'postgres';
import {
  checkpointsAfter,
  checkpointsByNumber,
  leavesOfRanges,
  listKeys,
  newestCheckpoints,
  readHead,
  runsOfRanges,
  type Run,
} from './queries.ts';
import { isHead } from './sealing.ts';

export type { Run } from './queries.ts';

/** What is wrong with a checkpoint whose root is not that of the entries as they are. */
export const changedEntriesMessage = (number: number): string =>
  `checkpoint ${number}: its entries, or the currency of a player, were changed after they were sealed`;

type Keys = ReadonlyMap<string, KeyObject>;

/**
 * Throws NotProven unless the checkpoint follows from the one before it and was signed over the entries as they are in
 * `ranges`, what `leavesOfRanges` reads.
 */
const verifyRange = (
  checkpoint: Checkpoint,
  before: Checkpoint | undefined,
  ranges: readonly { number: number; leaves: Buffer }[],
  keys: Keys,
): void => {
  const { number, root, entries } = checkpoint;
  const { leaves = Buffer.alloc(0) } = ranges.find((range) => range.number === number) ?? {};
  if (!follows(checkpoint, before))
    throw new NotProven(`checkpoint ${number} does not follow from the one before it`);
  checkSignature(checkpoint, keys);
  if (leaves.length !== entries * hashBytes || rootOf(merkleLevels(leaves)) !== root)
    throw new NotProven(changedEntriesMessage(number));
};

/** What is wrong with the newest checkpoint; undefined when it is the one that was signed last. */
export const headFault = async (sql: ISql): Promise<string | undefined> => {
  const head = await readHead(sql);
  const [newest] = await newestCheckpoints(sql, 0n, 1);
  return isHead(head, newest) ? undefined : `checkpoint ${head.number} was rewritten or removed`;
};

interface Slice {
  /** The last checkpoint of the slice; undefined: none follows. */
  number: number | undefined;
  /** Its entries. */
  runs: readonly Run[];
  /** What is not as it was sealed. */
  faults: string[];
}

/** Compares the next checkpoints after `after`, at most `limit`, with their entries, signatures and each other. */
export const verifySlice = async (sql: ISql, after: number, limit: number): Promise<Slice> => {
  const checkpoints = await checkpointsAfter(sql, BigInt(after), limit);
  const [first, last] = [checkpoints[0], checkpoints.at(-1)];
  if (first === undefined || last === undefined) return { number: undefined, runs: [], faults: [] };
  const keys = publicKeysOf({ keys: (await listKeys(sql)).map(({ x }) => publicJwk(x)) });
  const ranges = await leavesOfRanges(sql, first.number, last.number);
  const faults: string[] = [];
  let [before] = await checkpointsByNumber(sql, [after]);
  for (const checkpoint of checkpoints) {
    try {
      verifyRange(checkpoint, before, ranges, keys);
    } catch (error) {
      if (!(error instanceof NotProven)) throw error;
      faults.push(error.message);
    }
    before = checkpoint;
  }
  return { number: last.number, runs: await runsOfRanges(sql, first.number, last.number), faults };
};

/** Ranges that are read in one statement. */
const rangesAtOnce = 64;

/**
 * Compares all entries with all checkpoints, these with their signatures and with each other, and with those that a third
 * party `kept`. Returns how many entries are sealed. Throws with the number of the first checkpoint that does not fit.
 */
export const verifySeals = async (
  sql: Sql,
  keys: Keys,
  kept: readonly Checkpoint[] = [],
): Promise<number> => {
  const keptHash = new Map(kept.map((checkpoint) => [checkpoint.number, checkpointHash(checkpoint)]));
  let newest: Checkpoint | undefined;
  for (;;) {
    const after = newest?.number ?? 0;
    const checkpoints = await checkpointsAfter(sql, BigInt(after), rangesAtOnce);
    if (checkpoints.length === 0) {
      const [missing] = keptHash.keys();
      if (missing !== undefined)
        throw new NotProven(`checkpoint ${missing} was kept, and is not in the database`);
      return newest?.total ?? 0;
    }
    const ranges = await leavesOfRanges(sql, after + 1, after + rangesAtOnce);
    for (const checkpoint of checkpoints) {
      const { number } = checkpoint;
      verifyRange(checkpoint, newest, ranges, keys);
      if ((keptHash.get(number) ?? checkpointHash(checkpoint)) !== checkpointHash(checkpoint))
        throw new NotProven(`checkpoint ${number} was rewritten: it differs from the kept one`);
      keptHash.delete(number);
      newest = checkpoint;
    }
  }
};
