import type { Executor } from '@platform/service-kit/db';
import { Conflict } from '@platform/service-kit/problem';
import type { Prunable } from '@platform/service-kit/pruning';
import { orNotFound } from '@platform/service-kit/record-versions';
import { desc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { storeChanges, stores, webhookTokens, type StoreRow } from '../db/tables.ts';
import type { StoreSnapshot } from './settings.ts';

/** Replaced tokens whose grace period ended long ago; deleted in the background. */
export const outdatedTokens: Prunable = {
  table: 'webhook_tokens',
  outdated: "grace_until < now() - interval '90 days'",
};

/** Throws NotFound. `lock` makes concurrent changes of the store wait for the transaction. */
export const findStore = async (db: Executor, id: string, lock = false): Promise<StoreRow> => {
  const query = db.select().from(stores).where(eq(stores.id, id));
  const [row] = await (lock ? query.for('update') : query);
  return orNotFound(row, 'store');
};

/** The store, locked unless it is only added to, for a change that a deleted one does not take. Throws NotFound and Conflict. */
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

/** Records a change, in the transaction that makes it. */
export const addStoreChange = async (db: Executor, { before, after, changedBy }: StoreChange) => {
  await db.insert(storeChanges).values({
    storeId: before.id,
    id: sql`uuidv7()`,
    changedBy,
    changedAt: sql`clock_timestamp()`,
    before: snapshotOf(before),
    after: snapshotOf(after),
  });
};

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
