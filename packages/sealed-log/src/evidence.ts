import { z } from 'zod';
import { Checkpoint, sha256, thumbprint } from './checkpoint.ts';
import { SealedEntry } from './entry.ts';

/** The entries of a round, the proof that each was sealed, and the signed checkpoints. */
export const Evidence = z.strictObject({
  version: z.literal(1),
  playerId: z.string(),
  roundId: z.string(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .meta({ description: 'Of all amounts; sealed with each entry', examples: ['EUR'] }),
  closedAt: z.iso.datetime({ precision: 3 }).nullable().meta({
    description:
      'When the round was closed: the time of its first entry with `roundClosed`; null: it is open',
  }),
  createdAt: z.iso.datetime({ precision: 3 }),
  entries: z
    .array(
      SealedEntry.extend({
        checkpoint: z.int().min(1).meta({ description: 'Number of the checkpoint that sealed the entry' }),
        leaf: z.int().min(0).meta({ description: 'Its place in the tree of that checkpoint' }),
        path: z.array(sha256).meta({ description: 'Siblings on the way to the root (RFC 9162)' }),
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
      .meta({ description: 'Ed25519 over the JSON of `evidence` as it is here, base64url' }),
  })
  .meta({ id: 'Evidence' });

export type Evidence = z.output<typeof Evidence>;
export type EvidenceFile = z.output<typeof EvidenceFile>;
