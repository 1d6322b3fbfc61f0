import { hash, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { SealingKey } from './keys.ts';

/** SHA-256 in hex. */
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256 in hex' });

/** Of a public key (RFC 7638). Of an unverified file, programs print only characters of this alphabet. */
export const thumbprint = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** A signed range of entries. Every checkpoint names the one before it, so they form a chain. */
export const Checkpoint = z
  .strictObject({
    number: z.int().min(1).meta({ description: '1, 2, 3, … without gaps' }),
    entries: z.int().min(1).meta({ description: 'Entries that this checkpoint sealed' }),
    total: z.int().min(1).meta({ description: 'Entries that are sealed so far' }),
    previous: sha256.meta({ description: 'Hash of the checkpoint before; 64 zeros for the first' }),
    root: sha256.meta({ description: 'Root of the Merkle tree over the entries' }),
    sealedAt: z.iso.datetime({ precision: 3 }),
    keyId: thumbprint.meta({ description: 'Thumbprint of the key that signed (RFC 7638)' }),
    signature: z.string().meta({ description: 'Ed25519, base64url' }),
  })
  .meta({ id: 'Checkpoint' });

export type Checkpoint = z.output<typeof Checkpoint>;

/** What is signed of a checkpoint. */
export type SealedRange = Omit<Checkpoint, 'signature'>;

/** The hash before the first checkpoint. */
export const noCheckpoint = '0'.repeat(64);

/** The bytes that are signed. The first line keeps a signature from being used for anything else. */
const textOf = ({ number, entries, total, previous, root, sealedAt, keyId }: SealedRange): string =>
  ['wallet-operator checkpoint 1', number, entries, total, previous, root, sealedAt, keyId].join('\n');

/** The hash by which the next checkpoint names this one, in hex. */
export const checkpointHash = (range: SealedRange): string => hash('sha256', textOf(range));

export const signCheckpoint = (range: Omit<SealedRange, 'keyId'>, key: SealingKey): Checkpoint => {
  const signed = { ...range, keyId: key.keyId };
  return { ...signed, signature: key.sign(textOf(signed)) };
};

export const isSigned = (checkpoint: Checkpoint, publicKey: KeyObject): boolean =>
  verify(null, Buffer.from(textOf(checkpoint)), publicKey, Buffer.from(checkpoint.signature, 'base64url'));

/** Whether a checkpoint is the next one after `before`; the first one after undefined. */
export const follows = (
  { number, previous, total, entries }: Checkpoint,
  before: Checkpoint | undefined,
): boolean =>
  number === (before?.number ?? 0) + 1 &&
  previous === (before === undefined ? noCheckpoint : checkpointHash(before)) &&
  total === (before?.total ?? 0) + entries;
