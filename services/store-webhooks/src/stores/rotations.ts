import { setTimeout as sleep } from 'node:timers/promises';
import type { PathTokenRow, PathTokens } from '@platform/auth/path-tokens';
import { startBackground, type Background } from '@platform/service-kit/background';
import type { BaseContext } from '@platform/service-kit/context';
import { askRedis } from '@platform/service-kit/redis';
import { eq, sql } from 'drizzle-orm';
import { stores, webhookTokens } from '../db/tables.ts';
import { worksUntil, type TokenRow } from './known-store.ts';

interface Parts extends Pick<BaseContext, 'database' | 'redis' | 'log'> {
  tokens: PathTokens<TokenRow>;
  /** How long a token is accepted while the database is unavailable. */
  rememberMs: number;
}

/** With the variation of a background task, and a Redis that hangs, at most 0.95 s. */
const pollMs = 600;
/** Pause between two readings of the database while Redis answers. */
const idlePollMs = 2000;
/** Longer than the longest of these pauses. */
const readByAllMs = 3000;
/** An instance that has learnt nothing for this long reaches neither. */
const silentMs = 2000;
/** A change may be committed this long after its time. */
const overlapMs = 30_000;
const stream = 'store-webhooks:rotations';
/** An instance that misses some finds them in the database. An entry has some kilobytes. */
const [maxEntries, maxRead] = [2000, 100];

export type Rotations = ReturnType<typeof createRotations>;

/**
 * Tells all instances which tokens were replaced and which stores were paused, resumed, deleted or restored, also for tokens
 * that are not used meanwhile (docs/adr/0082, docs/adr/0131).
 */
export const createRotations = ({ database, redis, log, tokens, rememberMs }: Parts) => {
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
  let readAt = -Infinity;
  let lastEntry = '0';
  let heardAt = -Infinity;
  let isRedisUp = false;
  let inDatabase: Background | undefined;

  const replace = ({ tokenHash, graceUntil }: PathTokenRow): void => {
    if (graceUntil !== null) tokens.replaced(tokenHash, graceUntil);
  };

  /** A token may still work although its store has changed: it was paused, resumed or restored. */
  const learn = async (token: PathTokenRow): Promise<void> => {
    replace(token);
    if (token.graceUntil === null && tokens.validRow(token.tokenHash) !== undefined)
      await tokens.refresh(token.tokenHash);
  };

  const readDatabase = async (): Promise<boolean | void> => {
    const begun = performance.now();
    const since = Math.min(begun - readAt, rememberMs) + overlapMs;
    for (const { updatedAt, ...token } of await changes.execute({ ms: since })) {
      const before = tokens.validRow(token.tokenHash);
      replace(token);
      // The store has changed since, for example its allowed addresses.
      if (before !== undefined && before.store.updatedAt !== updatedAt) await tokens.refresh(token.tokenHash);
    }
    readAt = begun;
    heardAt = Math.max(heardAt, begun);
    return isRedisUp ? false : undefined;
  };

  const readRedis = async (): Promise<boolean | void> => {
    const begun = performance.now();
    const answer = await askRedis(redis, (open) =>
      open.xread('COUNT', maxRead, 'STREAMS', stream, lastEntry),
    );
    isRedisUp = answer !== undefined;
    if (answer === undefined) {
      inDatabase?.hint();
      return undefined;
    }
    const [[, entries] = ['', []]] = answer ?? [];
    for (const [id, [, replaced = '[]']] of entries) {
      for (const token of JSON.parse(replaced) as PathTokenRow[]) await learn(token);
      lastEntry = id;
    }
    heardAt = Math.max(heardAt, begun);
    return entries.length === maxRead || undefined;
  };

  const poll = (name: string, read: () => Promise<boolean | void>): Background => {
    const run = async (): Promise<boolean | void> => {
      // There is nothing to forget; a token that is used later is looked up then.
      if (tokens.hasValid) return read();
      heardAt = performance.now();
    };
    return stack.use(startBackground({ name, everyMs: pollMs, idleMs: idlePollMs, log, run }));
  };

  const rotations = {
    /**
     * Tells this instance, and then those that reach Redis, about tokens: when they stop, or with null that their store has
     * changed. Resolves when these know it, or have read it in the database.
     * Call it after the commit. Never rejects.
     */
    announce: async (changed: readonly PathTokenRow[]): Promise<void> => {
      for (const token of changed) await learn(token);
      if (redis === undefined) return;
      const published = await askRedis(redis, (open) =>
        Promise.all([
          open.xadd(stream, 'MAXLEN', '~', maxEntries, '*', 'replaced', JSON.stringify(changed)),
          open.pexpire(stream, rememberMs),
        ]),
      );
      // Other instances may still reach Redis, and then they read the database at longer intervals.
      if (published === undefined) await sleep(readByAllMs);
    },
    /** The same for the tokens of a store that was paused, resumed, deleted or restored. */
    announceStore: async (storeId: string): Promise<void> => {
      const changed = database.orm
        .select({ tokenHash: webhookTokens.tokenHash, graceUntil: worksUntil })
        .from(webhookTokens)
        .innerJoin(stores, eq(stores.id, webhookTokens.storeId))
        .where(eq(webhookTokens.storeId, storeId));
      // While the database is away the tokens cannot be read, so nothing is announced; each instance reads them when it is back.
      await rotations.announce(await changed.catch(() => []));
    },
    /** Begins to learn what other instances replace. */
    start: (): void => {
      inDatabase = poll('rotations in the database', readDatabase);
      if (redis !== undefined) poll('rotations in Redis', readRedis);
    },
    /** Reads everything once more, because tokens were restored that this instance had not known. */
    reread: (): void => {
      [readAt, lastEntry] = [-Infinity, '0'];
      inDatabase?.hint();
    },
    /**
     * For how long this instance may still accept tokens that were replaced without its knowledge, in milliseconds; 0 while
     * it reaches the database or Redis.
     */
    unknownForMs: (): number =>
      performance.now() - heardAt < silentMs
        ? 0
        : tokens.verified().reduce((most, { expiresAt }) => Math.max(most, expiresAt - Date.now()), 0),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return rotations;
};
