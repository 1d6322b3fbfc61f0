import type { Executor } from '@platform/service-kit/db';
import { Conflict, TooManyRequests } from '@platform/service-kit/problem';
import type { Prunable } from '@platform/service-kit/pruning';
import { orNotFound } from '@platform/service-kit/record-versions';
import { and, count, desc, eq, getTableColumns, gt, inArray, isNotNull, sql } from 'drizzle-orm';
import { storeChanges, stores, webhookTokens, type StoreRow } from '../db/tables.ts';
import { worksUntil } from './known-store.ts';
import type { StoreSnapshot } from './settings.ts';

/** Replaced tokens whose grace period ended long ago; deleted in the background. */
export const outdatedTokens: Prunable = {
  table: 'webhook_tokens',
  outdated: "grace_until < now() - interval '90 days'",
};

/** The row of a store. `lock` makes concurrent changes of the store wait for the transaction. Throws NotFound. */
export const findStore = async (db: Executor, id: string, lock = false): Promise<StoreRow> => {
  const query = db.select().from(stores).where(eq(stores.id, id));
  const [row] = await (lock ? query.for('update') : query);
  return orNotFound(row, 'store');
};

/** As `findStore`, but throws Conflict for a deleted store. `lock` is false for changes that only add rows. Throws NotFound. */
export const findStoreToChange = async (db: Executor, id: string, lock = true): Promise<StoreRow> => {
  const row = await findStore(db, id, lock);
  if (row.deletedAt !== null) throw new Conflict('store_deleted', 'The store is deleted; restore it first.');
  return row;
};

const snapshotOf = ({
  name,
  storeUrl,
  settings,
  deletedAt,
}: Pick<StoreRow, 'name' | 'storeUrl' | 'settings'> & { deletedAt?: string | null }) =>
  ({ name, storeUrl, ...settings, ...(deletedAt != null && { deletedAt }) }) satisfies StoreSnapshot;

interface StoreChange {
  before: StoreRow;
  after: Parameters<typeof snapshotOf>[0];
  /** Subject of the access token. */
  changedBy: string;
}

/** Maximum number of changes of a store within a day, because a change of one field stores all settings twice. */
const maxChangesPerDay = 500;

/**
 * Records a change of a store; call it in the transaction of the change. Throws TooManyRequests for the 501st change within a day,
 * unless it deletes the store.
 */
export const addStoreChange = async (db: Executor, { before, after, changedBy }: StoreChange) => {
  const isDeletion = after.deletedAt != null && before.deletedAt === null;
  const recent = and(
    eq(storeChanges.storeId, before.id),
    gt(storeChanges.changedAt, sql`now() - interval '1 day'`),
  );
  const [{ changes } = { changes: 0 }] = await db
    .select({ changes: count() })
    .from(storeChanges)
    .where(recent);
  if (!isDeletion && changes >= maxChangesPerDay)
    throw new TooManyRequests(3600, `A store can be changed at most ${maxChangesPerDay} times a day.`);
  await db.insert(storeChanges).values({
    storeId: before.id,
    id: sql`uuidv7()`,
    changedBy,
    changedAt: sql`clock_timestamp()`,
    before: snapshotOf(before),
    after: snapshotOf(after),
  });
};

/** The tokens of stores, sorted by store; the current tokens of each store come first. */
export const tokensOf = (db: Executor, storeIds: readonly string[]) =>
  db
    .select({ ...getTableColumns(webhookTokens), worksUntil })
    .from(webhookTokens)
    .innerJoin(stores, eq(stores.id, webhookTokens.storeId))
    .where(inArray(webhookTokens.storeId, storeIds))
    .orderBy(
      webhookTokens.storeId,
      isNotNull(webhookTokens.graceUntil),
      webhookTokens.purpose,
      desc(webhookTokens.createdAt),
    );
