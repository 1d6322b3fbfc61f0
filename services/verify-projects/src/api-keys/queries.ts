import { type Page, type Slice, slice } from '@platform/pagination/list';
import type { Database, Executor, Tx } from '@platform/service-kit/db';
import type { Prunable } from '@platform/service-kit/pruning';
import { and, eq, isNull, lte, or, sql } from 'drizzle-orm';
import { apiKeys } from '../db/tables.ts';

export type ApiKeyRow = typeof apiKeys.$inferSelect;

const { expires_at, revoked_at } = apiKeys;

/** By the clock of the database. */
const isValid = sql<boolean>`${revoked_at} is null and (${expires_at} is null or ${expires_at} > now())`;

/** Keys that were revoked or have expired long ago; erased in the background. */
export const outdatedKeys: Prunable = {
  table: 'api_keys',
  outdated: "least(expires_at, revoked_at) < now() - interval '90 days'",
};

/** One page, oldest first; revoked and expired keys only with `all`. */
export const findApiKeys = async (
  { orm }: Database,
  { offset, limit }: Page,
  all: boolean,
): Promise<Slice<ApiKeyRow>> => {
  const rows = await orm
    .select()
    .from(apiKeys)
    .where(all ? undefined : isValid)
    .orderBy(apiKeys.id)
    .offset(Number(offset))
    .limit(limit + 1);
  return slice(rows, limit);
};

/** Undefined if the key does not exist. */
export const findApiKey = async ({ orm }: Database, id: string): Promise<ApiKeyRow | undefined> => {
  const [row] = await orm.select().from(apiKeys).where(eq(apiKeys.id, id));
  return row;
};

/** What the guard needs of a key; whether it is valid is decided by the clock of the database. */
export const findByHash = async ({ orm }: Database, hash: string) => {
  const { id, scopes } = apiKeys;
  const [row] = await orm
    .select({ id, hash: apiKeys.hash, scopes, isValid })
    .from(apiKeys)
    .where(eq(apiKeys.hash, hash));
  return row;
};

/** The current time of the database, by which keys expire. */
export const readClock = async (orm: Executor): Promise<Date> => {
  const [row] = await orm.execute<{ now: string }>(sql`select now()`);
  return new Date(row?.now ?? NaN);
};

export const insertApiKey = async (orm: Executor, row: typeof apiKeys.$inferInsert): Promise<ApiKeyRow> => {
  const [stored] = await orm.insert(apiKeys).values(row).returning();
  if (stored === undefined) throw new Error('the API key was not stored');
  return stored;
};

/** Locks the key for other writers until the transaction ends. */
export const lockApiKey = async (tx: Tx, id: string): Promise<ApiKeyRow | undefined> => {
  const [row] = await tx.select().from(apiKeys).where(eq(apiKeys.id, id)).for('update');
  return row;
};

export const saveValidity = async (
  tx: Tx,
  id: string,
  validity: Partial<Pick<ApiKeyRow, 'expires_at' | 'revoked_at'>>,
): Promise<void> => {
  await tx.update(apiKeys).set(validity).where(eq(apiKeys.id, id));
};

/** Writes at most once a minute, whichever instance wrote last. */
export const saveLastUse = async ({ orm }: Database, id: string): Promise<void> => {
  const { last_used_at } = apiKeys;
  const isOld = or(isNull(last_used_at), lte(last_used_at, sql`now() - interval '1 minute'`));
  await orm
    .update(apiKeys)
    .set({ last_used_at: sql`now()` })
    .where(and(eq(apiKeys.id, id), isOld));
};
