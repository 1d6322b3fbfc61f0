import { randomInt, type JsonWebKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { commonEnv, migrationUrlOf, readEnv, tokenEnv } from '@platform/service-kit/env';
import { z } from 'zod';
import { limitStatuses } from './ledger/command.ts';
import { sealingKeyOf, type SealingKey } from '@platform/sealed-log/keys';
import { faultGroups, faultKinds, type FaultRates } from './stand-in/faults.ts';

const seconds = (min: number, fallback: number) => z.coerce.number().int().min(min).default(fallback);

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
  /** Shared with the game server; signs both directions. */
  HMAC_SECRET: z.string().min(1),
  /** Also accepted while the secret is replaced. */
  HMAC_SECRET_PREVIOUS: z.string().min(1).optional(),
  SIGNATURE_STRING: z.enum(['timestamp+path+body', 'timestamp+body']).default('timestamp+path+body'),
  /** A path prefix that a gateway removes; the game server signs the path with it. */
  SIGNATURE_PATH_PREFIX: z.string().default(''),
  SIGNATURE_TOLERANCE_S: seconds(0, 30),
  ROLLBACK_AFTER_CLOSE: z.enum(['reverse', 'reject']).default('reverse'),
  CREDIT_UNKNOWN_ROUND: z.enum(['accept', 'reject']).default('accept'),
  /** Whether the game server's transaction ids are unique over all players or for each player. Kept in the database. */
  TRANSACTION_ID_SCOPE: z.enum(['global', 'player']).default('global'),
  SESSION_POLICY: z.enum(['optional', 'required']).default('optional'),
  SESSION_TTL_S: seconds(1, 3600),
  /** The answer to a debit beyond a limit of the player. */
  LIMIT_STATUS: z.enum(limitStatuses).default('ERROR_NOT_ENOUGH_MONEY'),
  /** A session of play, for its limit and for reality checks, ends when no debit was accepted for so long. */
  SESSION_BREAK_S: seconds(60, 1800),
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
  /** Seconds between two proofs of the ledger by this process; 0 for none but those that are requested. */
  PROVE_EVERY_S: seconds(0, 86_400),
  /** Rounds open for longer count as stuck in the metrics. */
  STUCK_ROUND_S: seconds(1, 3600),
};

export const envOf = (variables: Record<string, string | undefined>) => readEnv(shape, variables);

export type Env = ReturnType<typeof envOf>;

/** The environment of this process; read once, in main.ts. */
export const processEnv = () => envOf(process.env);

/** Migrations run as the owner of the tables, the service as a role that only reads and writes rows. */
export const migrationUrl = (): string => migrationUrlOf(process.env);

/** Database of the command `proof`. */
export const databaseUrl = (): string =>
  readEnv({ DATABASE_URL: commonEnv.DATABASE_URL }, process.env).DATABASE_URL;

/** Such as `late=0.1,doubled=0.2`: the chances of faults. */
const faultRates = z.string().transform((text, context): FaultRates => {
  const pairs = text
    .split(',')
    .filter((pair) => pair !== '')
    .map((pair) => pair.split('=', 2));
  const rates: FaultRates = {};
  for (const [name, rate] of pairs) {
    const kind = faultKinds.find((one) => one === name);
    const chance = Number(rate);
    if (kind === undefined || !(chance >= 0 && chance <= 1))
      context.addIssue(`must be such as late=0.1,doubled=0.2; the faults are ${faultKinds.join(', ')}`);
    else rates[kind] = chance;
  }
  for (const kinds of faultGroups) {
    const sum = kinds.reduce((total, kind) => total + (rates[kind] ?? 0), 0);
    // Such as 0.1 + 0.2 + 0.7 may be a little more than 1.
    if (sum > 1.000001) context.addIssue(`must be at most 1 together: ${kinds.join(', ')}`);
  }
  return rates;
});

/** Settings of the stand-in game server. */
export const standInEnv = () =>
  readEnv(
    {
      GAME_SERVER_HOST: z.string().default('127.0.0.1'),
      GAME_SERVER_PORT: z.coerce.number().int().min(0).max(65535).default(4190),
      /** Plays for this player instead of waiting for launches. */
      GAME_SERVER_PLAYER: z.string().optional(),
      GAME_SERVER_GAME_CODE: z.string().default('dice-alpha'),
      GAME_SERVER_ROUNDS: z.coerce.number().int().min(0).default(10),
      GAME_SERVER_FAULTS: faultRates.prefault(''),
      /** Repeats the choices of an earlier run. */
      GAME_SERVER_SEED: z.coerce
        .number()
        .int()
        .default(() => randomInt(2 ** 31)),
      /** Of the player, for the statement. */
      GAME_SERVER_CURRENCY: z.string().default('EUR'),
      /** File to which the statement is written after the rounds of the player. */
      GAME_SERVER_STATEMENT: z.string().optional(),
      /** Share of its lines that get a mistake; a tenth of it: share of the callbacks with which a round is sent no further. */
      GAME_SERVER_STATEMENT_FAULTS: z.coerce.number().min(0).max(1).default(0),
      HMAC_SECRET: z.string().min(1),
      OPERATOR_ID: z.string().default('local-operator'),
      OPERATOR_URL: z.url().default('http://127.0.0.1:8080'),
    },
    process.env,
  );

const LocalStack = z.object({
  gateway: z.string().nullable(),
  services: z.record(z.string(), z.object({ url: z.string() })),
  demo: z.object({ wallet: z.object({ hmacSecret: z.string() }).optional() }),
});

/** Gateway and secret of the stack that runs here, unless the environment says otherwise. */
export const localWallet = (): { url: string; secret: string | undefined } => {
  const { OPERATOR_URL, HMAC_SECRET } = process.env;
  const file = new URL('../../../.local/stack.json', import.meta.url);
  const stack = existsSync(file) ? LocalStack.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
  return {
    url: OPERATOR_URL ?? stack?.gateway ?? stack?.services['wallet-operator']?.url ?? 'http://127.0.0.1:8080',
    secret: HMAC_SECRET ?? stack?.demo.wallet?.hmacSecret,
  };
};

/** A file as the caller of pnpm named it, who may be in another folder than this program. */
export const callersFile = (path: string): string => resolve(process.env['INIT_CWD'] ?? '', path);

/** The address that the command `demo` prints. */
export const gatewayUrl = (): string => process.env['GATEWAY_URL'] ?? 'http://127.0.0.1:8080';
