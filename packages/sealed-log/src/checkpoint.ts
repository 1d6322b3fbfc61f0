import { hash, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { SealingKey } from './keys.ts';

/** SHA-256 in hex. */
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256 in hex' });

/**
 * Thumbprint of a public key (RFC 7638). Programs print it before the file is verified, so the alphabet is restricted.
 */
export const thumbprint = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** A signed range of entries. Every checkpoint names the one before it, so they form a chain. */
export const Checkpoint = z
  .strictObject({
    number: z.int().min(1).meta({ description: '1, 2, 3, … without gaps' }),
    entries: z.int().min(1).meta({ description: 'Number of entries that this checkpoint sealed' }),
    total: z.int().min(1).meta({ description: 'Number of entries sealed so far, with this checkpoint' }),
    previous: sha256.meta({ description: 'Hash of the previous checkpoint; 64 zeros for the first' }),
    root: sha256.meta({ description: 'Root of the Merkle tree over the entries' }),
    sealedAt: z.iso.datetime({ precision: 3 }),
    keyId: thumbprint.meta({ description: 'Thumbprint of the signing key (RFC 7638)' }),
    signature: z.string().meta({ description: 'Ed25519, base64url' }),
  })
  .meta({ id: 'Checkpoint' });

export type Checkpoint = z.output<typeof Checkpoint>;

/** The signed fields of a checkpoint. */
export type SealedRange = Omit<Checkpoint, 'signature'>;

/** `previous` of the first checkpoint. */
export const noCheckpoint = '0'.repeat(64);

/** The text that is signed. Its first line prevents that the signature is valid for any other kind of text. */
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

/** Whether a checkpoint directly follows `predecessor`, or is the first one when `predecessor` is undefined. */
export const follows = (
  { number, previous, total, entries }: Checkpoint,
  predecessor: Checkpoint | undefined,
): boolean =>
  number === (predecessor?.number ?? 0) + 1 &&
  previous === (predecessor === undefined ? noCheckpoint : checkpointHash(predecessor)) &&
  total === (predecessor?.total ?? 0) + entries;
