import type { Database } from '@platform/service-kit/db';
import { and, eq, isNull, lte, or } from 'drizzle-orm';
import { apiKeys } from '../db/tables.ts';

export type ApiKeyRow = typeof apiKeys.$inferSelect;

type Tx = Parameters<Parameters<Database['orm']['transaction']>[0]>[0];

/** Every key there ever was, the oldest first. */
export const findApiKeys = ({ orm }: Database): Promise<ApiKeyRow[]> =>
  orm.select().from(apiKeys).orderBy(apiKeys.id);

/** Undefined if the key does not exist. */
export const findApiKey = async ({ orm }: Database, id: string): Promise<ApiKeyRow | undefined> => {
  const [row] = await orm.select().from(apiKeys).where(eq(apiKeys.id, id));
  return row;
};

export const findByHash = async ({ orm }: Database, hash: string): Promise<ApiKeyRow | undefined> => {
  const [row] = await orm.select().from(apiKeys).where(eq(apiKeys.hash, hash));
  return row;
};

export const insertApiKey = async (orm: Database['orm'] | Tx, row: ApiKeyRow): Promise<void> => {
  await orm.insert(apiKeys).values(row);
};

/** The key, kept from every other writer until the transaction ends. */
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

const minute = 60_000;

/** Writes only where the last use that is known is a minute old, whichever instance wrote it. */
export const saveLastUse = async ({ orm }: Database, id: string, at: Date): Promise<void> => {
  const before = new Date(at.getTime() - minute).toISOString();
  await orm
    .update(apiKeys)
    .set({ last_used_at: at.toISOString() })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.last_used_at), lte(apiKeys.last_used_at, before))));
};
