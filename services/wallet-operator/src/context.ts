import {
  createRequestSignatures,
  signatureStrings,
  type RequestSignatures,
} from '@platform/wallet-protocol/signing';
import { createTokenVerifier, type TokenVerifier } from '@platform/auth/bearer';
import { createBatcher, type Batcher } from '@platform/group-commit';
import type { Background } from '@platform/service-kit/background';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { openSearchPool, type SearchPool } from '@platform/service-kit/search-pool';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { tokenOptions } from '@platform/service-kit/env';
import type { Migrations } from '@platform/service-kit/migrate';
import type { SealingKey } from '@platform/sealed-log/keys';
import { startProving, type Proving } from './reporting/proof/proving.ts';
import type { Env } from './env.ts';
import { startSealing } from './sealing/sealing.ts';
import { openLedger, type Ledger } from './ledger/ledger.ts';
import { insertRefusals, type NewRefusal } from './ledger/refusals.ts';
import { createWalletMetrics, type WalletMetrics } from './metrics.ts';
import { startComparing } from './reconciliation/comparing.ts';
import { createSlowConnection, type SlowConnection } from './db/slow-connection.ts';
import { startClosing } from './reporting/summary/closing.ts';
import { createGameServer, type GameServer } from './accounts/launches/game-server.ts';

export const migrations: Migrations = {
  folder: new URL('../migrations', import.meta.url).pathname,
};

export interface Context extends BaseContext {
  env: Env;
  ledger: Ledger;
  signatures: RequestSignatures;
  tokens: TokenVerifier;
  /** Undefined without SEALING_KEY; entries are then not sealed. */
  sealingKey: SealingKey | undefined;
  /** Undefined when no game server is configured. */
  gameServer: GameServer | undefined;
  /** Stores refusals of callbacks with wrong syntax, which do not reach the ledger. */
  syntaxRefusals: Batcher<NewRefusal, void>;
  wallet: WalletMetrics;
  proving: Proving;
  /** Connections for searches of players, late pages of lists, and rounds of players with many entries. */
  searches: SearchPool;
  /** Connection for work that reads a large part of the ledger. */
  slow: SlowConnection;
  /** Connection for the first limit of a player, which sums up all entries of the player. */
  firstLimitConnection: SlowConnection;
  /** Compares statements of the game server with the ledger. */
  comparing: Background;
}

/** How often this process looks for received statements, which another process may have received. */
const compareEveryMs = 10_000;

/** How often this process checks whether a day has ended, to store its sums. */
const closeEveryMs = 600_000;

/** Opens the connections and clients of the service; tests replace some of them by `overrides`. */
export const createContext = (env: Env, parts: LogAndMetrics, overrides: Partial<Context> = {}): Context => {
  const base = openBaseContext(env, { name: 'wallet-operator', migrations }, parts);
  const { log } = parts;
  const { resources, database } = base;
  const { sql } = database;
  const now = overrides.now ?? base.now;
  const { SEALING_KEY: sealingKey, SEAL_EVERY_MS: everyMs } = env;
  const sealing = sealingKey && resources.use(startSealing(sql, sealingKey, { everyMs, log }));
  const wallet = createWalletMetrics(parts.metrics, {
    database,
    stuckRoundS: env.STUCK_ROUND_S,
    ledger: () => ledger,
    sealing,
  });
  const ledger: Ledger = resources.use(
    overrides.ledger ??
      openLedger({
        databaseUrl: env.DATABASE_URL,
        policy: {
          rollbackAfterClose: env.ROLLBACK_AFTER_CLOSE,
          creditUnknownRound: env.CREDIT_UNKNOWN_ROUND,
          sessions: env.SESSION_POLICY,
          transactionIds: env.TRANSACTION_ID_SCOPE,
          limitStatus: env.LIMIT_STATUS,
          sessionBreakS: env.SESSION_BREAK_S,
          sessionTtlS: env.SESSION_TTL_S,
          sessionMaxS: env.SESSION_MAX_S,
        },
        maxQueue: env.MAX_WAITING,
        maxWaitMs: env.MAX_WAIT_MS,
        maxInFlight: env.BATCHES_IN_FLIGHT,
        ...(sealing && { onCommitted: sealing.note }),
        onBatch: wallet.observeBatch,
      }),
  );
  const syntaxRefusals = resources.use(
    createBatcher<NewRefusal, void>({
      maxBatch: 200,
      maxQueue: 1000,
      maxInFlight: 1,
      flush: async (rows) => {
        await runOutsideRequest(() => insertRefusals(sql, rows));
        return rows.map(() => undefined);
      },
    }),
  );
  const searches = resources.use(
    openSearchPool(
      'wallet-operator:search',
      env,
      'Use more letters in `q`, or select fewer rows with a filter such as `from` and `to`.',
    ),
  );
  const comparing = resources.use(startComparing(sql, { everyMs: compareEveryMs, log }));
  const firstLimitConnection = resources.use(createSlowConnection(env.DATABASE_URL));
  const slow = resources.use(createSlowConnection(env.DATABASE_URL));
  resources.use(startClosing(sql, { slow, everyMs: closeEveryMs, log }));
  const proving = resources.use(
    startProving({ slow, sql, everyMs: env.PROVE_EVERY_S * 1000, walkDays: env.SEAL_WALK_DAYS, log }),
  );
  const signatures = createRequestSignatures({
    secrets: { current: env.HMAC_SECRET, previous: env.HMAC_SECRET_PREVIOUS },
    parts: signatureStrings[env.SIGNATURE_STRING],
    toleranceSeconds: env.SIGNATURE_TOLERANCE_S,
    pathPrefix: env.SIGNATURE_PATH_PREFIX,
    now,
  });
  const tokens = createTokenVerifier({ ...tokenOptions(env), now });
  return {
    ...base,
    env,
    ledger,
    sealingKey,
    syntaxRefusals,
    searches,
    wallet,
    proving,
    slow,
    firstLimitConnection,
    comparing,
    signatures,
    gameServer:
      env.GAME_SERVER_URL !== undefined && env.OPERATOR_ID !== undefined
        ? createGameServer({ url: env.GAME_SERVER_URL, operatorId: env.OPERATOR_ID, signatures })
        : undefined,
    tokens,
    ops: tokens,
    ...overrides,
  };
};
