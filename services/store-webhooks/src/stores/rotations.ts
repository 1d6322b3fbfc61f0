import { setTimeout as sleep } from 'node:timers/promises';
import type { PathTokenRow, PathTokens } from '@platform/auth/path-tokens';
import { startBackground, type Background } from '@platform/service-kit/background';
import type { BaseContext } from '@platform/service-kit/context';
import { askRedis } from '@platform/service-kit/redis';
import { eq, sql } from 'drizzle-orm';
import { stores, webhookTokens } from '../db/tables.ts';
import { worksUntil, type TokenRow } from './known-store.ts';

interface Dependencies extends Pick<BaseContext, 'database' | 'redis' | 'log'> {
  tokens: PathTokens<TokenRow>;
  /** How long a token is accepted while the database is unavailable. */
  rememberMs: number;
}

/** Pause between two reads. With the jitter of a background task and a hanging Redis, at most 0.95 s. */
const pollMs = 600;
/** Pause between two reads of the database while Redis answers. */
const idlePollMs = 2000;
/** Longer than the longest of these pauses: by then all instances have read the database. */
const readByAllMs = 3000;
/** An instance without a successful read for this long reaches neither the database nor Redis. */
const silentMs = 2000;
/** A change may be committed this long after its `updatedAt`. */
const overlapMs = 30_000;
const stream = 'store-webhooks:rotations';
/** Limits of the stream: an entry takes some kilobytes. An instance that misses entries finds the changes in the database. */
const [maxEntries, maxRead] = [2000, 100];

export type Rotations = ReturnType<typeof createRotations>;

/**
 * Announces to all instances which tokens were replaced and which stores were paused, resumed, deleted or restored, including
 * tokens that are not in use at that time (docs/adr/0082, docs/adr/0131).
 */
export const createRotations = ({ database, redis, log, tokens, rememberMs }: Dependencies) => {
  const stack = new AsyncDisposableStack();
  const changes = database.orm
    .select({
      tokenHash: webhookTokens.tokenHash,
      graceUntil: worksUntil,
      updatedAt: stores.updatedAt,
    })
    .from(stores)
    .innerJoin(webhookTokens, eq(webhookTokens.storeId, stores.id))
    .where(sql`${stores.updatedAt} > now() - ${sql.placeholder('ms')}::float8 * interval '1 ms'`)
    .prepare('changed_tokens');
  let databaseReadAt = -Infinity;
  let lastEntry = '0';
  let lastReadAt = -Infinity;
  let isRedisUp = false;
  let databasePoll: Background | undefined;

  const markReplaced = ({ tokenHash, graceUntil }: PathTokenRow): void => {
    if (graceUntil !== null) tokens.replaced(tokenHash, graceUntil);
  };

  /** A token may still work after a change of its store, if that was paused, resumed or restored. */
  const applyChange = async (token: PathTokenRow): Promise<void> => {
    markReplaced(token);
    if (token.graceUntil === null && tokens.validRow(token.tokenHash) !== undefined)
      await tokens.refresh(token.tokenHash);
  };

  const readDatabase = async (): Promise<boolean | void> => {
    const startedAt = performance.now();
    const since = Math.min(startedAt - databaseReadAt, rememberMs) + overlapMs;
    for (const { updatedAt, ...token } of await changes.execute({ ms: since })) {
      const before = tokens.validRow(token.tokenHash);
      markReplaced(token);
      // The store has changed since, for example its allowed addresses.
      if (before !== undefined && before.store.updatedAt !== updatedAt) await tokens.refresh(token.tokenHash);
    }
    databaseReadAt = startedAt;
    lastReadAt = Math.max(lastReadAt, startedAt);
    return isRedisUp ? false : undefined;
  };

  const readRedis = async (): Promise<boolean | void> => {
    const startedAt = performance.now();
    const response = await askRedis(redis, (client) =>
      client.xread('COUNT', maxRead, 'STREAMS', stream, lastEntry),
    );
    isRedisUp = response !== undefined;
    if (response === undefined) {
      databasePoll?.hint();
      return undefined;
    }
    const [[, entries] = ['', []]] = response ?? [];
    for (const [id, [, replaced = '[]']] of entries) {
      for (const token of JSON.parse(replaced) as PathTokenRow[]) await applyChange(token);
      lastEntry = id;
    }
    lastReadAt = Math.max(lastReadAt, startedAt);
    return entries.length === maxRead || undefined;
  };

  const poll = (name: string, read: () => Promise<boolean | void>): Background => {
    const run = async (): Promise<boolean | void> => {
      // Without cached tokens there is nothing to update; a token is looked up when it is used.
      if (tokens.hasValid) return read();
      lastReadAt = performance.now();
    };
    return stack.use(startBackground({ name, everyMs: pollMs, idleMs: idlePollMs, log, run }));
  };

  const rotations = {
    /**
     * Announces tokens to this instance and then to those that reach Redis: when they stop working, or null if their store
     * has changed. Resolves when these instances know it or have read it from the database. Call it after the commit. Never
     * rejects.
     */
    announce: async (changed: readonly PathTokenRow[]): Promise<void> => {
      for (const token of changed) await applyChange(token);
      if (redis === undefined) return;
      const published = await askRedis(redis, (client) =>
        Promise.all([
          client.xadd(stream, 'MAXLEN', '~', maxEntries, '*', 'replaced', JSON.stringify(changed)),
          client.pexpire(stream, rememberMs),
        ]),
      );
      // Other instances may still reach Redis; then they read the database at longer intervals.
      if (published === undefined) await sleep(readByAllMs);
    },
    /** The same for the tokens of a store that was paused, resumed, deleted or restored. */
    announceStore: async (storeId: string): Promise<void> => {
      const changed = database.orm
        .select({ tokenHash: webhookTokens.tokenHash, graceUntil: worksUntil })
        .from(webhookTokens)
        .innerJoin(stores, eq(stores.id, webhookTokens.storeId))
        .where(eq(webhookTokens.storeId, storeId));
      // If the database is unavailable nothing is announced; each instance reads the tokens when it is back.
      await rotations.announce(await changed.catch(() => []));
    },
    /** Starts to read the changes that other instances announce. */
    start: (): void => {
      databasePoll = poll('rotations in the database', readDatabase);
      if (redis !== undefined) poll('rotations in Redis', readRedis);
    },
    /** Reads all changes again, because restored tokens may be affected by earlier ones. */
    reread: (): void => {
      [databaseReadAt, lastEntry] = [-Infinity, '0'];
      databasePoll?.hint();
    },
    /**
     * How long this instance may still accept tokens that were replaced without its knowledge, in milliseconds; 0 while
     * it reaches the database or Redis.
     */
    replacedAcceptedForMs: (): number =>
      performance.now() - lastReadAt < silentMs
        ? 0
        : tokens.verified().reduce((longest, { expiresAt }) => Math.max(longest, expiresAt - Date.now()), 0),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return rotations;
};
