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

/** The fault of a checkpoint whose root differs from that of its current entries. */
export const changedEntriesMessage = (number: number): string =>
  `checkpoint ${number}: its entries, or the currency of a player, were changed after they were sealed`;

type Keys = ReadonlyMap<string, KeyObject>;

interface Compared {
  checkpoint: Checkpoint;
  fault: string | undefined;
}

/** The fault of a checkpoint after `before`, if it has one; `leaves` are the hashes of its current entries. */
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

/** Verifies the next `limit` checkpoints after `after`: their entries, signatures and links. */
const compareNext = async (sql: ISql, after: number, limit: number, keys: Keys): Promise<Compared[]> => {
  const checkpoints = await checkpointsAfter(sql, BigInt(after), limit);
  const first = checkpoints[0];
  const last = checkpoints.at(-1);
  if (first === undefined || last === undefined) return [];
  const ranges = await leavesOfCheckpoints(sql, first.number, last.number);
  const leavesOf = new Map(ranges.map(({ number, leaves }) => [number, leaves]));
  const [before] = await checkpointsByNumber(sql, [after]);
  return checkpoints.map((checkpoint, index) => {
    const leaves = leavesOf.get(checkpoint.number) ?? Buffer.alloc(0);
    const previous = index === 0 ? before : checkpoints[index - 1];
    return { checkpoint, fault: faultOf(checkpoint, previous, leaves, keys) };
  });
};

/** The fault of the newest checkpoint; undefined when it is the last signed one. */
export const headFault = async (sql: ISql): Promise<string | undefined> => {
  const head = await readHead(sql);
  const [newest] = await newestCheckpoints(sql, 0n, 1);
  return isHead(head, newest) ? undefined : `checkpoint ${head.number} was rewritten or removed`;
};

interface Slice {
  /** Number of the last checkpoint of the slice; undefined when the slice is empty. */
  lastNumber: number | undefined;
  /** The sealed entries. */
  runs: readonly Run[];
  faults: string[];
}

/** Verifies the next `limit` checkpoints after `after` with the trusted keys. */
export const verifySlice = async (sql: ISql, after: number, limit: number): Promise<Slice> => {
  const compared = await compareNext(sql, after, limit, await trustedKeys(sql));
  const first = compared[0]?.checkpoint.number;
  const last = compared.at(-1)?.checkpoint.number;
  if (first === undefined || last === undefined) return { lastNumber: undefined, runs: [], faults: [] };
  const faults = compared.flatMap(({ fault }) => fault ?? []);
  return { lastNumber: last, runs: await runsOfCheckpoints(sql, first, last), faults };
};

const checkpointsPerStatement = 64;

/**
 * Verifies every checkpoint: its entries, its signature, its link to the one before, and that it equals its copy in `saved`.
 * Returns the number of sealed entries. Throws NotProven with the fault of the first checkpoint that fails.
 */
export const verifySeals = async (
  sql: Sql,
  keys: Keys,
  saved: readonly Checkpoint[] = [],
): Promise<number> => {
  const savedHash = new Map(saved.map((checkpoint) => [checkpoint.number, checkpointHash(checkpoint)]));
  let newest: Checkpoint | undefined;
  let compared: Compared[];
  do {
    compared = await compareNext(sql, newest?.number ?? 0, checkpointsPerStatement, keys);
    for (const { checkpoint, fault } of compared) {
      const { number } = checkpoint;
      if (fault !== undefined) throw new NotProven(fault);
      const expected = savedHash.get(number);
      if (expected !== undefined && expected !== checkpointHash(checkpoint))
        throw new NotProven(`checkpoint ${number} was rewritten: it differs from the saved one`);
      savedHash.delete(number);
      newest = checkpoint;
    }
  } while (compared.length > 0);
  const [missing] = savedHash.keys();
  if (missing !== undefined)
    throw new NotProven(`checkpoint ${missing} was saved, but is not in the database`);
  return newest?.total ?? 0;
};
