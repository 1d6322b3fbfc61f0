import { verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { Checkpoint, checkpointHash, follows, isSigned } from './checkpoint.ts';
import { entryHash, EvidenceFile, type Evidence } from './evidence.ts';
import { rootByPath } from './merkle.ts';

/** The evidence or a checkpoint is not valid; the message says what is wrong. */
export class NotProven extends Error {
  override name = 'NotProven';
}

const assert: (isProven: boolean, message: string) => asserts isProven = (isProven, message) => {
  if (!isProven) throw new NotProven(message);
};

type Keys = ReadonlyMap<string, KeyObject>;

const keyOf = (keys: Keys, keyId: string): KeyObject => {
  const key = keys.get(keyId);
  assert(key !== undefined, `signed with an unknown key: ${keyId} is not in the file of public keys`);
  return key;
};

/** Throws NotProven unless one of the keys signed the checkpoint. */
export const checkSignature = (checkpoint: Checkpoint, keys: Keys): void => {
  assert(
    isSigned(checkpoint, keyOf(keys, checkpoint.keyId)),
    `checkpoint ${checkpoint.number}: signature is wrong`,
  );
};

/** Parses an evidence file. Accepts only JSON exactly as JSON.stringify writes it, so that every byte is significant. */
const parseExact = (text: string): EvidenceFile => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotProven('the file is not JSON');
  }
  assert(
    JSON.stringify(value) === text,
    'the JSON has different bytes than the original: use the file as it was downloaded',
  );
  const { data, error } = EvidenceFile.safeParse(value);
  assert(data !== undefined, `the file is not evidence: ${error?.issues[0]?.path.join('.')}`);
  return data;
};

const checkFileSignature = ({ evidence, keyId, signature }: EvidenceFile, keys: Keys): void => {
  const bytes = Buffer.from(signature, 'base64url');
  const isValid =
    bytes.toString('base64url') === signature &&
    verify(null, Buffer.from(JSON.stringify(evidence)), keyOf(keys, keyId), bytes);
  assert(isValid, 'the signature of the file is wrong');
};

const checkEntries = ({ playerId, roundId, currency, closedAt, entries, checkpoints }: Evidence): void => {
  const checkpointOf = new Map(checkpoints.map((sealed) => [sealed.number, sealed]));
  assert(checkpointOf.size === checkpoints.length, 'the file contains a checkpoint twice');
  let previousSeq = 0n;
  for (const { checkpoint, leaf, path, ...entry } of entries) {
    const name = `entry ${entry.seq}`;
    assert(entry.playerId === playerId && entry.roundId === roundId, `${name}: belongs to another round`);
    assert(BigInt(entry.seq) > previousSeq, `${name}: is out of order`);
    previousSeq = BigInt(entry.seq);
    const sealed = checkpointOf.get(checkpoint);
    assert(sealed !== undefined, `${name}: checkpoint ${checkpoint} is missing`);
    const root =
      leaf < sealed.entries ? rootByPath(entryHash(entry, currency), leaf, sealed.entries, path) : undefined;
    assert(root === sealed.root, `${name}: is not what checkpoint ${checkpoint} sealed`);
  }
  const closing = entries.find(({ roundClosed }) => roundClosed === true);
  assert(closedAt === (closing?.at ?? null), 'closedAt is not the time of the entry that closed the round');
};

/**
 * Verifies an evidence file without a database or a network: its own signature, the signature of each checkpoint, and
 * that its checkpoint sealed each entry with this currency. Throws NotProven. It does not prove that no entry is missing,
 * nor that the game server sent what the entries say.
 */
export const verifyEvidence = (text: string, keys: Keys): Evidence => {
  const file = parseExact(text);
  checkFileSignature(file, keys);
  for (const checkpoint of file.evidence.checkpoints) checkSignature(checkpoint, keys);
  checkEntries(file.evidence);
  return file.evidence;
};

/** Reads the checkpoints from a saved answer of `GET /v1/audit/checkpoints`. */
export const readCheckpoints = (text: string): Checkpoint[] =>
  z.object({ checkpoints: z.array(Checkpoint) }).parse(JSON.parse(text)).checkpoints;

/**
 * Verifies checkpoints that were saved at any times: their signatures, the chain between consecutive numbers, and that no
 * two with the same number differ. Throws NotProven: if the database was rewritten, its checkpoints differ from saved ones.
 */
export const verifyCheckpoints = (checkpoints: readonly Checkpoint[], keys: Keys): void => {
  const byNumber = new Map<number, Checkpoint>();
  for (const checkpoint of checkpoints) {
    checkSignature(checkpoint, keys);
    const known = byNumber.get(checkpoint.number) ?? checkpoint;
    const isSame = checkpointHash(known) === checkpointHash(checkpoint);
    assert(isSame, `checkpoint ${checkpoint.number} was rewritten: two different versions exist`);
    byNumber.set(checkpoint.number, checkpoint);
  }
  for (const checkpoint of byNumber.values()) {
    const { number } = checkpoint;
    const predecessor = byNumber.get(number - 1);
    const isChained = (number > 1 && predecessor === undefined) || follows(checkpoint, predecessor);
    assert(isChained, `checkpoint ${number} does not follow from the previous one`);
  }
};

/** Throws NotProven unless each checkpoint is among the saved ones. */
export const expectSaved = (checkpoints: readonly Checkpoint[], saved: readonly Checkpoint[]): void => {
  const hashes = new Set(saved.map(checkpointHash));
  for (const checkpoint of checkpoints)
    assert(
      hashes.has(checkpointHash(checkpoint)),
      `checkpoint ${checkpoint.number} is not among the saved ones; save the page that contains it`,
    );
};
