import type { Database } from '@platform/service-kit/db';
import { desc, eq } from 'drizzle-orm';
import { spareParts } from '../db/tables.ts';

export type SparePartRow = typeof spareParts.$inferSelect;

export const findSparePart = async (
  { orm }: Database,
  sparePartId: string,
): Promise<SparePartRow | undefined> => {
  const [row] = await orm.select().from(spareParts).where(eq(spareParts.sparePartId, sparePartId));
  return row;
};

/** Newest first. */
export const findSpareParts = (
  { orm }: Database,
  { offset, limit }: { offset: bigint; limit: number },
): Promise<SparePartRow[]> =>
  orm.select().from(spareParts).orderBy(desc(spareParts.sparePartId)).offset(Number(offset)).limit(limit);

export const insertSparePart = async ({ orm }: Database, sparePart: SparePartRow): Promise<void> => {
  await orm.insert(spareParts).values(sparePart);
};
