import { verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { Checkpoint, checkpointHash, follows, isSigned } from './checkpoint.ts';
import { entryHash, EvidenceFile, type Evidence } from './evidence.ts';
import { rootByPath } from './merkle.ts';

/** The evidence or a checkpoint does not hold; the message says what is wrong. */
export class NotProven extends Error {
  override name = 'NotProven';
}

const demand: (holds: boolean, otherwise: string) => asserts holds = (holds, otherwise) => {
  if (!holds) throw new NotProven(otherwise);
};

type Keys = ReadonlyMap<string, KeyObject>;

const keyOf = (keys: Keys, keyId: string): KeyObject => {
  const key = keys.get(keyId);
  demand(key !== undefined, `signed with a key that was not given: ${keyId}`);
  return key;
};

/** Throws NotProven unless one of these keys signed the checkpoint. */
export const checkSignature = (checkpoint: Checkpoint, keys: Keys): void => {
  demand(
    isSigned(checkpoint, keyOf(keys, checkpoint.keyId)),
    `checkpoint ${checkpoint.number}: signature is wrong`,
  );
};

/** Reads JSON that is written exactly as JSON.stringify writes it, so that every byte of the file counts. */
const parseExact = (text: string): EvidenceFile => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotProven('the file is not JSON');
  }
  demand(JSON.stringify(value) === text, 'the file was written again: its JSON has another spelling');
  const { data, error } = EvidenceFile.safeParse(value);
  demand(data !== undefined, `the file is not evidence: ${error?.issues[0]?.path.join('.')}`);
  return data;
};

const checkFileSignature = ({ evidence, keyId, signature }: EvidenceFile, keys: Keys): void => {
  const bytes = Buffer.from(signature, 'base64url');
  const holds =
    bytes.toString('base64url') === signature &&
    verify(null, Buffer.from(JSON.stringify(evidence)), keyOf(keys, keyId), bytes);
  demand(holds, 'the signature of the file is wrong');
};

const checkEntries = ({ playerId, roundId, currency, closedAt, entries, checkpoints }: Evidence): void => {
  const rangeOf = new Map(checkpoints.map((checkpoint) => [checkpoint.number, checkpoint]));
  demand(rangeOf.size === checkpoints.length, 'a checkpoint is there twice');
  let before = 0n;
  for (const { checkpoint, leaf, path, ...entry } of entries) {
    const name = `entry ${entry.seq}`;
    demand(entry.playerId === playerId && entry.roundId === roundId, `${name}: belongs to another round`);
    demand(BigInt(entry.seq) > before, `${name}: is out of order`);
    before = BigInt(entry.seq);
    const range = rangeOf.get(checkpoint);
    demand(range !== undefined, `${name}: checkpoint ${checkpoint} is missing`);
    const root =
      leaf < range.entries ? rootByPath(entryHash(entry, currency), leaf, range.entries, path) : undefined;
    demand(root === range.root, `${name}: is not what checkpoint ${checkpoint} sealed`);
  }
  const closing = entries.find(({ roundClosed }) => roundClosed === true);
  demand(closedAt === (closing?.at ?? null), 'closedAt is not the time of the entry that closed the round');
};

/**
 * Verifies an evidence file without a database or a network: its own signature, the signature of each checkpoint, and
 * that each entry, with the currency, is in the range that its checkpoint sealed. Throws NotProven. What it does not show:
 * that no entry is missing, and that the caller sent what the entries say.
 */
export const verifyEvidence = (text: string, keys: Keys): Evidence => {
  const file = parseExact(text);
  checkFileSignature(file, keys);
  for (const checkpoint of file.evidence.checkpoints) checkSignature(checkpoint, keys);
  checkEntries(file.evidence);
  return file.evidence;
};

/** The checkpoints of a saved answer of `GET /v1/audit/checkpoints`. */
export const readCheckpoints = (text: string): Checkpoint[] =>
  z.object({ checkpoints: z.array(Checkpoint) }).parse(JSON.parse(text)).checkpoints;

/**
 * Verifies checkpoints that were kept at any times: signatures, the chain where numbers follow each other, and that no
 * two of one number differ. Throws NotProven: after a rewrite of the database, its checkpoints differ from the kept ones.
 */
export const verifyCheckpoints = (kept: readonly Checkpoint[], keys: Keys): void => {
  const byNumber = new Map<number, Checkpoint>();
  for (const checkpoint of kept) {
    checkSignature(checkpoint, keys);
    const known = byNumber.get(checkpoint.number) ?? checkpoint;
    const same = checkpointHash(known) === checkpointHash(checkpoint);
    demand(same, `checkpoint ${checkpoint.number} was rewritten: there are two`);
    byNumber.set(checkpoint.number, checkpoint);
  }
  for (const checkpoint of byNumber.values()) {
    const { number } = checkpoint;
    const before = byNumber.get(number - 1);
    const holds = (number > 1 && before === undefined) || follows(checkpoint, before);
    demand(holds, `checkpoint ${number} does not follow from the one before it`);
  }
};

/** Throws NotProven unless each checkpoint is among those that were kept. */
export const expectKept = (checkpoints: readonly Checkpoint[], kept: readonly Checkpoint[]): void => {
  const hashes = new Set(kept.map(checkpointHash));
  for (const checkpoint of checkpoints) {
    const isKept = hashes.has(checkpointHash(checkpoint));
    demand(isKept, `checkpoint ${checkpoint.number} is not among the kept ones; get the page that has it`);
  }
};
