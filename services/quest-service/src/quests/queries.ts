import type { Window } from '@platform/pagination/list';
import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import { v7 } from 'uuid';
import { Quest } from './schema.ts';

export const quests = jsonTable('quests', Object.keys(Quest.shape));

/** Runs for each lookup that Redis can't answer. */
export const readVersion = async (sql: Sql, questId: string): Promise<string | undefined> => {
  const [row] = await sql<{ version: string }[]>`select version from quests where quest_id = ${questId}`;
  return row?.version;
};

/** Newest first. */
export const findQuests = (sql: Sql, { offset, limit }: Window): Promise<string[]> =>
  quests.list(sql, sql`order by created_at desc, quest_id desc offset ${String(offset)} limit ${limit}`);

/** `lock` locks the quest for other writers until the transaction ends. */
export const findQuest = (sql: Queries, questId: string, lock: boolean): Promise<string | undefined> =>
  quests.find(sql, { quest_id: questId }, lock);

/** A quest without questions. Its times are those of the database, because clocks of instances differ. */
export const insertQuest = async (sql: Queries, title: string, questId: string = v7()): Promise<Stored> => {
  const now = sql`statement_timestamp()`;
  const quest = { questId, title, version: v7(), questionCount: 0, createdAt: now, updatedAt: now };
  return { id: questId, json: await quests.insert(sql, quest) };
};

/** Gives a locked quest a new version, and what is given of the rest. */
export const saveQuest = (
  sql: Queries,
  questId: string,
  changes: { title?: string | undefined; questionCount?: number | undefined },
): Promise<string> => {
  const updatedAt = sql`statement_timestamp()`;
  return quests.update(sql, { quest_id: questId }, { ...changes, version: v7(), updatedAt });
};
