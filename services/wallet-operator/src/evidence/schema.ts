import { pageLimitBody, pageLimitQuery } from '@platform/pagination/page-limit';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256 in hex' });
const minor = z
  .string()
  .regex(/^-?\d{1,19}$/)
  .meta({ description: 'In minor units', examples: ['-500'] });

export const CheckpointShape = z
  .strictObject({
    number: z.int().min(1).meta({ description: '1, 2, 3, … without gaps' }),
    entries: z.int().min(1).meta({ description: 'Entries that this checkpoint sealed' }),
    total: z.int().min(1).meta({ description: 'Entries that are sealed so far' }),
    previous: sha256.meta({ description: 'Hash of the checkpoint before; 64 zeros for the first' }),
    root: sha256.meta({ description: 'Root of the Merkle tree over the entries' }),
    sealedAt: instant(),
    keyId: z.string().meta({ description: 'Thumbprint of the key that signed (RFC 7638)' }),
    signature: z.string().meta({ description: 'Ed25519, base64url' }),
  })
  .meta({ id: 'Checkpoint' });

export const CheckpointList = pageLimitBody('checkpoints', CheckpointShape);
export const CheckpointQuery = z.strictObject({
  ...pageLimitQuery,
  sort: z.enum(['number', '-number']).default('number').meta({ description: '`-number`: the newest first' }),
});

const SealedEntryShape = z.strictObject({
  playerId: z.string(),
  seq: z.string().regex(/^\d{1,19}$/),
  operation: z.enum(['debit', 'credit', 'rollback', 'deposit', 'withdrawal', 'tombstone']),
  transactionId: z.string(),
  roundId: z.string().nullable(),
  gameCode: z.string().nullable(),
  amount: minor,
  balanceAfter: minor,
  reverses: z.string().nullable(),
  roundClosed: z.boolean().nullable(),
  at: instant(),
  idSpace: z.string(),
  checkpoint: z.int().min(1).meta({ description: 'Number of the checkpoint that sealed the entry' }),
  leaf: z.int().min(0).meta({ description: 'Its place in the tree of that checkpoint' }),
  path: z.array(sha256).meta({ description: 'Siblings on the way to the root (RFC 9162)' }),
});

const EvidenceShape = z.strictObject({
  version: z.literal(1),
  playerId: z.string(),
  roundId: z.string(),
  currency: z.string(),
  createdAt: instant(),
  entries: z.array(SealedEntryShape).min(1),
  checkpoints: z.array(CheckpointShape).min(1),
});

export const EvidenceFileShape = z
  .strictObject({
    evidence: EvidenceShape,
    keyId: z.string(),
    signature: z
      .string()
      .meta({ description: 'Ed25519 over the JSON of `evidence` as it is here, base64url' }),
  })
  .meta({ id: 'Evidence' });

export type Evidence = z.output<typeof EvidenceShape>;
export type EvidenceFile = z.output<typeof EvidenceFileShape>;

const PublicKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  use: z.literal('sig'),
  alg: z.literal('EdDSA'),
});

export const SealingKeys = z.object({ keys: z.array(PublicKey) }).meta({ id: 'SealingKeys' });
