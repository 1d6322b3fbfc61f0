import { Conflict } from '@platform/service-kit/problem';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { requireVersion } from '@platform/service-kit/record-versions';
import { eq, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { stores, type StoreRow } from '../db/tables.ts';
import { addStoreChange, findStore } from './queries.ts';
import { changeableVersion, getStore, storeLock } from './use-cases.ts';

interface StoreRequest {
  /** The versions of If-Match. */
  expected: readonly string[] | undefined;
  /** The subject of the caller's token. */
  changedBy: string;
}

/** Deletes or restores a store, records the change and announces its tokens to all instances. Writes nothing if nothing changes. */
const setDeleted = async (
  context: Context,
  id: string,
  { expected, changedBy }: StoreRequest,
  isDeleted: boolean,
  check: (row: StoreRow) => void,
) => {
  const { database, rotations } = context;
  const stored = await oneAtATime(database.sql, storeLock(id, changedBy), () =>
    database.orm.transaction(async (tx) => {
      const before = await findStore(tx, id, true);
      requireVersion(expected, changeableVersion(before), 'store');
      check(before);
      if ((before.deletedAt !== null) !== isDeleted) {
        const deletedAt = isDeleted ? sql`now()` : null;
        const [after = before] = await tx
          .update(stores)
          .set({ deletedAt, updatedAt: sql`now()` })
          .where(eq(stores.id, id))
          .returning();
        await addStoreChange(tx, { before, after, changedBy });
      }
      return getStore(context, id, tx);
    }),
  );
  await rotations.announceStore(id);
  return stored;
};

/** Deletes a store: its tokens stop working at once, and its data is erased later. Throws NotFound and a Problem (412 `stale`). */
export const deleteStore = async (context: Context, id: string, request: StoreRequest): Promise<void> => {
  await setDeleted(context, id, request, true, () => undefined);
};

/** Restores a deleted store: its tokens work again. Throws NotFound, and Conflict once its data is being erased. */
export const restoreStore = (context: Context, id: string, request: StoreRequest) =>
  setDeleted(context, id, request, false, ({ deletedAt }) => {
    // Uses the clock of the database, like the erasure.
    const eraseBefore = context.clock.now().getTime() - context.env.STORE_ERASE_DAYS * 86_400_000;
    if (deletedAt !== null && Date.parse(deletedAt) <= eraseBefore)
      throw new Conflict('store_erased', 'The time to restore the store is over; its data is being erased.');
  });
