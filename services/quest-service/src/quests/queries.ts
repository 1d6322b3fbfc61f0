import type { Database } from '@platform/service-kit/db';
import { desc, eq, sql } from 'drizzle-orm';
import { quests } from '../db/tables.ts';
import type { Tx } from '@platform/service-kit/db';

export type QuestRow = typeof quests.$inferSelect;

/** A prepared statement, because it runs for each lookup that Redis can't answer. */
export const readVersion = async ({ sql }: Database, questId: string): Promise<string | undefined> => {
  const [row] = await sql<{ version: string }[]>`select version from quests where quest_id = ${questId}`;
  return row?.version;
};

export const findQuest = async ({ orm }: Database, questId: string): Promise<QuestRow | undefined> => {
  const [row] = await orm.select().from(quests).where(eq(quests.questId, questId));
  return row;
};

/** Newest first. */
export const findQuests = (
  { orm }: Database,
  { offset, limit }: { offset: bigint; limit: number },
): Promise<QuestRow[]> =>
  orm
    .select()
    .from(quests)
    .orderBy(desc(quests.createdAt), desc(quests.questId))
    .offset(Number(offset))
    .limit(limit);

/** A quest without its times, which are those of the database, because clocks of instances differ. */
type QuestValues = Omit<QuestRow, 'createdAt' | 'updatedAt'>;

const now = sql`statement_timestamp()`;

/** Returns the quest as it was stored. */
export const insertQuest = async ({ orm }: Database, quest: QuestValues): Promise<QuestRow> => {
  const [stored] = await orm
    .insert(quests)
    .values({ ...quest, createdAt: now, updatedAt: now })
    .returning();
  return stored as QuestRow;
};

/** Locks the quest for other writers until the transaction ends. */
export const lockQuest = async (tx: Tx, questId: string): Promise<QuestRow | undefined> => {
  const [row] = await tx.select().from(quests).where(eq(quests.questId, questId)).for('update');
  return row;
};

/** Returns the quest as it was stored. */
export const saveQuest = async (tx: Tx, { questId, ...values }: QuestValues): Promise<QuestRow> => {
  const [stored] = await tx
    .update(quests)
    .set({ ...values, updatedAt: now })
    .where(eq(quests.questId, questId))
    .returning();
  return stored as QuestRow;
};

/** Deletes the quest with its questions. */
export const deleteQuest = async (tx: Tx, questId: string): Promise<void> => {
  await tx.delete(quests).where(eq(quests.questId, questId));
};
