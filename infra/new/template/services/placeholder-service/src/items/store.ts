import type { Database } from '@platform/service-kit/db';
import { desc, eq } from 'drizzle-orm';
import { items } from '../db/tables.ts';

export type ItemRow = typeof items.$inferSelect;

export const findItem = async ({ orm }: Database, itemId: string): Promise<ItemRow | undefined> => {
  const [row] = await orm.select().from(items).where(eq(items.itemId, itemId));
  return row;
};

/** Newest first. */
export const findItems = (
  { orm }: Database,
  { offset, limit }: { offset: bigint; limit: number },
): Promise<ItemRow[]> =>
  orm.select().from(items).orderBy(desc(items.itemId)).offset(Number(offset)).limit(limit);

export const insertItem = async ({ orm }: Database, item: ItemRow): Promise<void> => {
  await orm.insert(items).values(item);
};
