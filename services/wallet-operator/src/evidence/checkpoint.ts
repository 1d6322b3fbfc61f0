import { hash, verify, type KeyObject } from 'node:crypto';
import type { SealingKey } from './keys.ts';

/** What is signed about a sealed range of entries. Every checkpoint names the one before it, so they form a chain. */
export interface SealedRange {
  /** 1, 2, 3, … without gaps. */
  number: number;
  /** Entries of this range: the leaves of its tree. */
  entries: number;
  /** Entries of all ranges so far. */
  total: number;
  /** Hash of the checkpoint before this one, in hex; 64 zeros for the first. */
  previous: string;
  /** Root of the Merkle tree, in hex. */
  root: string;
  /** ISO 8601, UTC, milliseconds; the clock of the database. */
  sealedAt: string;
  /** Thumbprint of the key that signed (RFC 7638). */
  keyId: string;
}

export interface Checkpoint extends SealedRange {
  /** Ed25519 over the text of the range, base64url. */
  signature: string;
}

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
