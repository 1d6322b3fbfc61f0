import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createTokenVerifier, type Caller, type TokenVerifier } from '@platform/auth/bearer';
import { callerRights } from '@platform/auth/caller-rights';
import { createPathTokens, type PathTokens } from '@platform/auth/path-tokens';
import { createSecretBox, type SecretBox } from '@platform/auth/secret-box';
import { createFeed } from '@platform/feed';
import { createSubscriptions } from '@platform/outgoing-webhooks';
import { Counter } from '@prometheus-io/client';
import { createByteGate, type ByteGate } from '@platform/service-kit/byte-gate';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { tokenOptions } from '@platform/service-kit/env';
import { openSearchPool, type SearchPool } from '@platform/service-kit/search-pool';
import type { Migrations } from '@platform/service-kit/migrate';
import { feedParts } from '@platform/feed/sql';
import { subscriptionsPart } from '@platform/outgoing-webhooks/sql';
import { followedTables } from './db/followed.ts';
import { indexScanSettings } from './db/index-scan-settings.ts';
import type { StoreRow } from './db/tables.ts';
import type { Env } from './env.ts';
import { createDatabaseClock, type DatabaseClock } from './db/clock.ts';
import { createIds, type NextId } from './inbox/event.ts';
import { createEventReader, type EventReader } from './events/event-reader.ts';
import { createInbox, type Inbox } from './inbox/inbox.ts';
import {
  createPaymentLimit,
  createUnsettledLimit,
  type PaymentLimit,
  type UnsettledLimit,
} from './payments/limits.ts';
import { createReaders, type ProviderReader } from './providers/reader.ts';
import { createStoredLimit, type StoredLimit } from './receive/stored-limit.ts';
import { createOutageSnapshot } from './inbox/spool/outage-snapshot.ts';
import {
  createStoreOpener,
  createTokenFinder,
  type KnownStore,
  type TokenRow,
} from './stores/known-store.ts';
import { createRotations, type Rotations } from './stores/rotations.ts';
import { createReplacedTokenUses, type ReplacedTokenUses } from './stores/replaced-token-uses.ts';
import { createTracker, type ErrorTracker } from './error-tracker.ts';

export const migrations: Migrations = {
  folder: new URL('../migrations', import.meta.url).pathname,
  parts: [...feedParts(followedTables), subscriptionsPart],
};

export interface Context extends BaseContext {
  env: Env;
  verifier: TokenVerifier;
  box: SecretBox;
  openStore(row: StoreRow): KnownStore;
  tokens: PathTokens<TokenRow>;
  rotations: Rotations;
  replacedTokenUses: ReplacedTokenUses;
  nextId: NextId;
  inbox: Inbox;
  /** Counts challenges that were sent for a payment they do not belong to; the alert ChallengeMismatch reads it. */
  challengeMismatches: Counter;
  paymentLimit: PaymentLimit;
  unsettledLimit: UnsettledLimit;
  storedLimit: StoredLimit;
  eventReader: EventReader;
  clock: DatabaseClock;
  readerOf: (storeId: string) => ProviderReader;
  /** Limits concurrent slow searches: late pages of lists, lists of all stores and filters without an index. */
  searches: SearchPool;
  /** Bounds the memory of large pages of lists. */
  largeWork: ByteGate;
  /** Aborted when the instance stops, to interrupt all requests to providers. */
  stopping: AbortController;
  tracker: ErrorTracker;
  /** Creates the routes that export and follow a list. */
  follow: ReturnType<typeof createFeed>;
  subscriptions: ReturnType<typeof createSubscriptions<Caller>>;
}

/** A subfolder for each database, so that services with different databases can share SPOOL_DIR. */
const spoolFolder = ({ SPOOL_DIR, DATABASE_URL }: Env): string => {
  const { host, pathname } = new URL(DATABASE_URL);
  return join(SPOOL_DIR, createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16));
};

const providerAddresses = ({ PROVIDER_ADDRESSES, NODE_ENV }: Env): 'public' | 'any' =>
  PROVIDER_ADDRESSES ?? (NODE_ENV === 'production' ? 'public' : 'any');

/** Opens the connections and clients of the service; `overrides` replace parts in tests. */
export const createContext = async (
  env: Env,
  logAndMetrics: LogAndMetrics,
  overrides: Partial<Context> = {},
): Promise<Context> => {
  const schemaFile = join(spoolFolder(env), 'migrations');
  const base = openBaseContext(
    env,
    { name: 'store-webhooks', migrations, schemaFile, settings: indexScanSettings },
    logAndMetrics,
  );
  const { sql } = base.database;
  const { log } = base;
  const clock = createDatabaseClock(sql, log);
  const { now = clock.now } = overrides;
  const box = createSecretBox(env.SECRETS_KEY);
  const openStore = createStoreOpener(box);
  const tokens = createPathTokens({
    find: createTokenFinder(base.database, openStore),
    rememberMs: env.TOKEN_MEMORY_MS,
    now,
  });
  const rotations = createRotations({ ...base, tokens, rememberMs: env.TOKEN_MEMORY_MS });
  const inbox = createInbox({
    sql,
    log,
    spoolFolder: spoolFolder(env),
    spoolMaxBytes: env.SPOOL_MAX_BYTES,
    snapshot: createOutageSnapshot({ tokens, rotations, clock, openStore, log }),
  });
  const replacedTokenUses = createReplacedTokenUses(sql);
  const searches = openSearchPool(
    'store-webhooks:search',
    env,
    'Use a filter, a single store or an earlier page.',
  );
  const stopping = new AbortController();
  const tracker = await createTracker(env.SENTRY_DSN, log);
  const verifier = createTokenVerifier({ ...tokenOptions(env), now: overrides.now ?? base.now });
  return {
    ...base,
    env,
    verifier,
    ops: verifier,
    box,
    openStore,
    tokens,
    now,
    clock,
    rotations,
    replacedTokenUses,
    searches,
    nextId: createIds(),
    inbox,
    challengeMismatches: new Counter({
      name: 'webhooks_challenge_mismatches_total',
      help: '3DS challenges that were sent for a payment they do not belong to',
      registers: [base.metrics.registry],
    }),
    paymentLimit: createPaymentLimit(base.redis),
    unsettledLimit: createUnsettledLimit(base.redis),
    storedLimit: createStoredLimit(base.redis, env.STORED_MB_PER_TOKEN),
    eventReader: createEventReader(base.database.orm, base.redis),
    readerOf: createReaders({
      outbound: base.outbound,
      timeoutMs: env.PROVIDER_TIMEOUT_MS,
      addresses: providerAddresses(env),
      stopping: stopping.signal,
    }),
    largeWork: createByteGate({ capacity: 96 * 2 ** 20, maxWaiting: 32, maxWaitMs: 10_000 }),
    stopping,
    tracker,
    subscriptions: createSubscriptions(base, env, {
      service: 'store-webhooks',
      auth: verifier.guard('store-webhooks:subscriptions'),
      rights: callerRights,
    }),
    follow: createFeed({
      ...base,
      service: 'store-webhooks',
      days: env.FEED_DAYS,
      maxStreams: env.FEED_STREAMS,
    }),
    [Symbol.asyncDispose]: async () => {
      for (const resource of [rotations, inbox, clock, replacedTokenUses, tracker, searches, base])
        await resource[Symbol.asyncDispose]();
    },
    ...overrides,
  };
};
