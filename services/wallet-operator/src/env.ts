import type { JsonWebKey } from 'node:crypto';
import { resolve } from 'node:path';
import { commonEnv, readEnv, defineEnv, tokenEnv } from '@platform/service-kit/env';
import { searchEnv } from '@platform/service-kit/search-pool';
import { amount, minorUnits } from '@platform/wallet-protocol/money';
import { z } from 'zod';
import { limitStatuses } from './ledger/command.ts';
import { sealingKeyOf, type SealingKey } from '@platform/sealed-log/keys';

const atLeast = (min: number, fallback: number) => z.coerce.number().int().min(min).default(fallback);

/** One signed callback is enough to try secrets against it offline, so the secret must be long. */
const hmacSecret = z.string().min(16, 'must be at least 16 characters');

const sealingKey = z.string().transform((text, context): SealingKey => {
  try {
    return sealingKeyOf(JSON.parse(text) as JsonWebKey);
  } catch {
    context.addIssue('is not a private Ed25519 JWK');
    return z.NEVER;
  }
});

const shape = {
  ...commonEnv,
  ...tokenEnv,
  ...searchEnv,
  /** Shared with the game server; signs both directions. */
  HMAC_SECRET: hmacSecret,
  /** Also accepted while the secret is replaced. */
  HMAC_SECRET_PREVIOUS: hmacSecret.optional(),
  SIGNATURE_STRING: z.enum(['timestamp+path+body', 'timestamp+body']).default('timestamp+path+body'),
  /** A path prefix that a gateway removes; the game server signs the path with it. */
  SIGNATURE_PATH_PREFIX: z.string().default(''),
  SIGNATURE_TOLERANCE_S: atLeast(0, 30),
  ROLLBACK_AFTER_CLOSE: z.enum(['reverse', 'reject']).default('reverse'),
  CREDIT_UNKNOWN_ROUND: z.enum(['accept', 'reject']).default('accept'),
  /** Whether the game server's transaction ids are unique over all players or for each player. Kept in the database. */
  TRANSACTION_ID_SCOPE: z.enum(['global', 'player']).default('global'),
  SESSION_POLICY: z.enum(['optional', 'required']).default('optional'),
  SESSION_TTL_S: atLeast(1, 3600),
  /** The longest time from the launch of a session to its end. */
  SESSION_MAX_S: atLeast(1, 43_200),
  /** Days after which the record of a launch is deleted. */
  LAUNCHES_DAYS: atLeast(1, 90),
  /** The answer to a debit beyond a limit of the player. */
  LIMIT_STATUS: z.enum(limitStatuses).default('ERROR_NOT_ENOUGH_MONEY'),
  /** A session of play, for its limit and for reality checks, ends when no debit was accepted for so long. */
  SESSION_BREAK_S: atLeast(60, 1800),
  /** Callbacks that may wait; beyond it they are answered 500 at once. */
  MAX_WAITING: z.coerce.number().int().min(1).default(2000),
  /** How long a callback waits for a batch, and for a player whom another transaction holds; then it is answered 500. */
  MAX_WAIT_MS: z.coerce.number().int().min(1).default(2000),
  BATCHES_IN_FLIGHT: z.coerce.number().int().min(1).max(4).default(2),
  /** Address of the game server and our operator id there; without them there are no launches. */
  GAME_SERVER_URL: z.url({ protocol: /^https?$/ }).optional(),
  OPERATOR_ID: z.string().min(1).optional(),
  /** A private Ed25519 JWK that signs checkpoints and evidence; without it entries are not sealed. */
  SEALING_KEY: sealingKey.optional(),
  SEAL_EVERY_MS: z.coerce.number().int().min(10).default(10_000),
  /** Seconds between two proofs of the ledger by any process; 0 for none but those that are requested. */
  PROVE_EVERY_S: atLeast(0, 86_400),
  /** Days in which all sealed entries are compared with their seals. */
  SEAL_WALK_DAYS: z.coerce.number().positive().default(7),
  /** What repairs may move of a currency in 24 hours without the approval of a second person. */
  RECONCILIATION_MAX_AMOUNT: amount.default('1000.00').transform(minorUnits),
  /** Days for which refused callbacks are kept. */
  REFUSALS_DAYS: z.coerce.number().int().min(7).max(3650).default(90),
  /** What adjustments may move of a currency in 24 hours without the approval of a second person. */
  ADJUSTMENT_MAX_AMOUNT: amount.default('1000.00').transform(minorUnits),
  /** Rounds open for longer count as stuck in the metrics. */
  STUCK_ROUND_S: atLeast(1, 3600),
};

export const { parseEnv, processEnv } = defineEnv('wallet-operator', shape);

export type Env = ReturnType<typeof parseEnv>;

/** SEALING_KEY for migrations, which let the service sign with it. */
export const sealingKeyIfSet = (): SealingKey | undefined =>
  readEnv({ SEALING_KEY: shape.SEALING_KEY }, process.env).SEALING_KEY;

/** A file as the caller of pnpm named it: paths are relative to the folder of the caller. */
export const callersFile = (path: string): string => resolve(process.env['INIT_CWD'] ?? '', path);

/** The address that the command `demo` prints. */
export const gatewayUrl = (): string => process.env['GATEWAY_URL'] ?? 'http://127.0.0.1:8080';
