import type { Executor } from '@platform/service-kit/db';
import { NotFound } from '@platform/service-kit/problem';
import { desc, eq, inArray, isNotNull } from 'drizzle-orm';
import { stores, webhookTokens } from '../db/tables.ts';

export type StoreRow = typeof stores.$inferSelect;

const select = (db: Executor) => db.select().from(stores);

/** Throws NotFound. `lock` makes concurrent changes of the store wait for the transaction. */
export const findStore = async (db: Executor, id: string, lock = false): Promise<StoreRow> => {
  const query = select(db).where(eq(stores.id, id));
  const [row] = await (lock ? query.for('update') : query);
  if (row === undefined) throw new NotFound('store');
  return row;
};

export const findStores = (db: Executor, ids: readonly string[]) => select(db).where(inArray(stores.id, ids));

/** Newest first; one row more than the page. */
export const listStores = (db: Executor, offset: bigint, limit: number) =>
  select(db)
    .orderBy(desc(stores.id))
    .offset(Number(offset))
    .limit(limit + 1);

/** The tokens of stores; those of a store are together, and the current ones come first. */
export const tokensOf = (db: Executor, storeIds: readonly string[]) =>
  db
    .select()
    .from(webhookTokens)
    .where(inArray(webhookTokens.storeId, storeIds))
    .orderBy(
      webhookTokens.storeId,
      isNotNull(webhookTokens.graceUntil),
      webhookTokens.purpose,
      desc(webhookTokens.createdAt),
    );
