import { id } from '@platform/wallet-protocol/ids';
import { z } from 'zod';
import { Checkpoint, sha256, thumbprint } from './checkpoint.ts';
import { leafHash } from './merkle.ts';

const minorUnits = z
  .string()
  .regex(/^-?\d{1,19}$/)
  .meta({ description: 'In minor units', examples: ['-500'] });

/**
 * The sealed columns of a ledger entry, in the order in which they are hashed. Not sealed: metadata, and the round that a
 * rollback named when it differs from the round of its debit.
 */
export const SealedEntry = z.strictObject({
  playerId: id,
  seq: z.string().regex(/^\d{1,19}$/),
  operation: z.enum(['debit', 'credit', 'rollback', 'deposit', 'withdrawal', 'adjustment', 'tombstone']),
  transactionId: id,
  roundId: id.nullable(),
  gameCode: id.nullable(),
  amount: minorUnits,
  balanceAfter: minorUnits,
  reverses: id.nullable(),
  roundClosed: z.boolean().nullable(),
  at: z.iso.datetime({ precision: 3 }),
  idSpace: z
    .string()
    .regex(/^[^\p{Cc}]+$/u)
    .meta({ example: 'game' }),
});

export type SealedEntry = z.output<typeof SealedEntry>;

const columns = Object.keys(SealedEntry.shape) as (keyof SealedEntry)[];

/**
 * The hash of an entry: its columns and the currency of its player as lines; null is an empty line. No value contains a
 * line end and no id is empty, so two entries never have the same text. The wallet computes the same hash in SQL.
 */
export const entryHash = (entry: SealedEntry, currency: string): Buffer =>
  leafHash([...columns.map((column) => entry[column] ?? ''), currency].join('\n'));

/** The entries of a round, the proof that each of them was sealed, and the signed checkpoints. */
export const Evidence = z.strictObject({
  version: z.literal(1),
  playerId: z.string(),
  roundId: z.string(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .meta({ description: 'Currency of all amounts; sealed with each entry', examples: ['EUR'] }),
  closedAt: z.iso.datetime({ precision: 3 }).nullable().meta({
    description:
      'When the round was closed: the time of its first entry with `roundClosed`; null while it is open',
  }),
  createdAt: z.iso.datetime({ precision: 3 }),
  entries: z
    .array(
      SealedEntry.extend({
        checkpoint: z.int().min(1).meta({ description: 'Number of the checkpoint that sealed the entry' }),
        leaf: z.int().min(0).meta({ description: 'Index of the leaf in the tree of that checkpoint' }),
        path: z.array(sha256).meta({ description: 'Sibling hashes from the leaf to the root (RFC 9162)' }),
      }),
    )
    .min(1),
  checkpoints: z.array(Checkpoint).min(1),
});

/** The file that a third party gets. */
export const EvidenceFile = z
  .strictObject({
    evidence: Evidence,
    keyId: thumbprint,
    signature: z
      .string()
      .meta({ description: 'Ed25519 over the JSON of `evidence`, byte for byte; base64url' }),
  })
  .meta({ id: 'Evidence' });

export type Evidence = z.output<typeof Evidence>;
export type EvidenceFile = z.output<typeof EvidenceFile>;
