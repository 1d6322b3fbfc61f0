import type { JsonWebKey } from 'node:crypto';
import { resolve } from 'node:path';
import { commonEnv, readEnv, defineEnv, tokenEnv } from '@platform/service-kit/env';
import { searchEnv } from '@platform/service-kit/search-pool';
import { amount, minorUnits } from '@platform/wallet-protocol/money';
import { z } from 'zod';
import { limitStatuses } from './ledger/command.ts';
import { sealingKeyOf, type SealingKey } from '@platform/sealed-log/keys';

const atLeast = (min: number, fallback: number) => z.coerce.number().int().min(min).default(fallback);

/** An attacker who has one signed callback can guess secrets offline, so the secret must be long. */
const hmacSecret = z.string().min(16, 'must be at least 16 characters');

const sealingKey = z.string().transform((text, context): SealingKey => {
  try {
    return sealingKeyOf(JSON.parse(text) as JsonWebKey);
  } catch {
    context.addIssue('must be a private Ed25519 JWK');
    return z.NEVER;
  }
});

const shape = {
  ...commonEnv,
  ...tokenEnv,
  ...searchEnv,
  /** Shared with the game server; signs requests in both directions. */
  HMAC_SECRET: hmacSecret,
  /** Also accepted while the secret is rotated. */
  HMAC_SECRET_PREVIOUS: hmacSecret.optional(),
  SIGNATURE_STRING: z.enum(['timestamp+path+body', 'timestamp+body']).default('timestamp+path+body'),
  /** A path prefix that a gateway removes; the game server signs the path with it. */
  SIGNATURE_PATH_PREFIX: z.string().default(''),
  SIGNATURE_TOLERANCE_S: atLeast(0, 30),
  ROLLBACK_AFTER_CLOSE: z.enum(['reverse', 'reject']).default('reverse'),
  CREDIT_UNKNOWN_ROUND: z.enum(['accept', 'reject']).default('accept'),
  /** Whether the game server's transaction ids are unique over all players or per player. Stored in the database. */
  TRANSACTION_ID_SCOPE: z.enum(['global', 'player']).default('global'),
  SESSION_POLICY: z.enum(['optional', 'required']).default('optional'),
  SESSION_TTL_S: atLeast(1, 3600),
  /** Maximum lifetime of a session, from its launch. */
  SESSION_MAX_S: atLeast(1, 43_200),
  /** Days after which launch records are deleted. */
  LAUNCHES_DAYS: atLeast(1, 90),
  /** The status of a debit that exceeds a limit of the player. */
  LIMIT_STATUS: z.enum(limitStatuses).default('ERROR_NOT_ENOUGH_MONEY'),
  /** A session of play (for session limits and reality checks) ends when no debit was accepted for this time. */
  SESSION_BREAK_S: atLeast(60, 1800),
  /** Maximum number of waiting callbacks; further ones are answered 500 immediately. */
  MAX_WAITING: z.coerce.number().int().min(1).default(2000),
  /** How long a callback waits for a batch, and for a player that another transaction has locked; then it is answered 500. */
  MAX_WAIT_MS: z.coerce.number().int().min(1).default(2000),
  BATCHES_IN_FLIGHT: z.coerce.number().int().min(1).max(4).default(2),
  /** Address of the game server and our operator id there; required for launches. */
  GAME_SERVER_URL: z.url({ protocol: /^https?$/ }).optional(),
  OPERATOR_ID: z.string().min(1).optional(),
  /** A private Ed25519 JWK that signs checkpoints and evidence; without it entries are not sealed. */
  SEALING_KEY: sealingKey.optional(),
  SEAL_EVERY_MS: z.coerce.number().int().min(10).default(10_000),
  /** Seconds between two proofs of the ledger, over all processes; 0: only on request. */
  PROVE_EVERY_S: atLeast(0, 86_400),
  /** Days in which every sealed entry is compared with its seal once. */
  SEAL_WALK_DAYS: z.coerce.number().positive().default(7),
  /** Total of repairs in a currency within 24 hours, above which a second person must approve. */
  RECONCILIATION_MAX_AMOUNT: amount.default('1000.00').transform(minorUnits),
  /** Days for which refused callbacks are kept. */
  REFUSALS_DAYS: z.coerce.number().int().min(7).max(3650).default(90),
  /** Total of adjustments in a currency within 24 hours, above which a second person must approve. */
  ADJUSTMENT_MAX_AMOUNT: amount.default('1000.00').transform(minorUnits),
  /** Rounds open for longer count as stuck in the metrics. */
  STUCK_ROUND_S: atLeast(1, 3600),
};

export const { parseEnv, processEnv } = defineEnv('wallet-operator', shape);

export type Env = ReturnType<typeof parseEnv>;

/** SEALING_KEY for migrations, which store its public key so that the service may sign with it. */
export const sealingKeyIfSet = (): SealingKey | undefined =>
  readEnv({ SEALING_KEY: shape.SEALING_KEY }, process.env).SEALING_KEY;

/** Resolves a path relative to the folder in which pnpm was called. */
export const callersFile = (path: string): string => resolve(process.env['INIT_CWD'] ?? '', path);

/** The gateway address that `demo` prints. */
export const gatewayUrl = (): string => process.env['GATEWAY_URL'] ?? 'http://127.0.0.1:8080';
