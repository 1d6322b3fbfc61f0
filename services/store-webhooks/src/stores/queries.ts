import type { Executor } from '@platform/service-kit/db';
import type { Prunable } from '@platform/service-kit/pruning';
import { orNotFound } from '@platform/service-kit/record-versions';
import { and, asc, desc, eq, gte, inArray, isNotNull, sql } from 'drizzle-orm';
import { storeChanges, stores, webhookTokens, type StoreRow } from '../db/tables.ts';
import type { StoreSettings, StoreSnapshot } from './settings.ts';

/** Replaced tokens whose grace period ended long ago; deleted in the background. */
export const outdatedTokens: Prunable = {
  table: 'webhook_tokens',
  outdated: "grace_until < now() - interval '90 days'",
};

const select = (db: Executor) => db.select().from(stores);

/** Throws NotFound. `lock` makes concurrent changes of the store wait for the transaction. */
export const findStore = async (db: Executor, id: string, lock = false): Promise<StoreRow> => {
  const query = select(db).where(eq(stores.id, id));
  const [row] = await (lock ? query.for('update') : query);
  return orNotFound(row, 'store');
};

const snapshotOf = ({ name, storeUrl, settings }: Pick<StoreRow, 'name' | 'storeUrl' | 'settings'>) =>
  ({ name, storeUrl, ...settings }) satisfies StoreSnapshot;

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

/** The settings that the first change of a store at a time or later replaced; undefined without such a change. */
export const settingsReplacedSince = async (
  db: Executor,
  storeId: string,
  at: string,
): Promise<StoreSettings | undefined> => {
  const [change] = await db
    .select({ before: storeChanges.before })
    .from(storeChanges)
    .where(and(eq(storeChanges.storeId, storeId), gte(storeChanges.changedAt, at)))
    .orderBy(asc(storeChanges.id))
    .limit(1);
  return change?.before;
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
