import type { Window } from '@platform/pagination/list';
import type { Queries, Stored } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import { v7 } from 'uuid';

interface JsonRow {
  json: string;
}

/** What a change of questions needs of their quest. */
export interface QuestState {
  version: string;
  questionCount: number;
}

const iso = (sql: Queries, column: string) =>
  sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A quest as JSON text, which is sent as it is. */
const json = (sql: Queries) => sql`
  (select row_to_json(quest)::text from (
    select quest_id as "questId", title, version, question_count as "questionCount",
      ${iso(sql, 'created_at')} as "createdAt", ${iso(sql, 'updated_at')} as "updatedAt") quest) as json`;

/** Runs for each lookup that Redis can't answer. */
export const readVersion = async (sql: Sql, questId: string): Promise<string | undefined> => {
  const [row] = await sql<{ version: string }[]>`select version from quests where quest_id = ${questId}`;
  return row?.version;
};

/** Newest first. */
export const findQuests = async (sql: Sql, { offset, limit }: Window): Promise<string[]> => {
  const rows = await sql<JsonRow[]>`
    select ${json(sql)} from quests
    order by created_at desc, quest_id desc offset ${String(offset)} limit ${limit}`;
  return rows.map((row) => row.json);
};

/** `lock` locks the quest for other writers until the transaction ends. */
export const findQuest = async (
  sql: Queries,
  questId: string,
  lock: boolean,
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    select ${json(sql)} from quests where quest_id = ${questId} ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** A quest without questions. Its times are those of the database, because clocks of instances differ. */
export const insertQuest = async (sql: Queries, title: string, questId: string = v7()): Promise<Stored> => {
  const [row] = await sql<[JsonRow]>`
    insert into quests (quest_id, title, version, question_count, created_at, updated_at)
    values (${questId}, ${title}, ${v7()}, 0, statement_timestamp(), statement_timestamp())
    returning ${json(sql)}`;
  return { id: questId, json: row.json };
};

/** Gives a locked quest a new version, and another title where there is one. */
export const saveQuest = async (
  sql: Queries,
  questId: string,
  { title, questionCount }: { title?: string | undefined; questionCount?: number | undefined },
): Promise<JsonRow & QuestState> => {
  const [row] = await sql<[JsonRow & QuestState]>`
    update quests set title = coalesce(${title ?? null}, title), version = ${v7()},
      question_count = coalesce(${questionCount ?? null}, question_count), updated_at = statement_timestamp()
    where quest_id = ${questId}
    returning ${json(sql)}, version, question_count as "questionCount"`;
  return row;
};

/** Deletes the quest with its questions. */
export const deleteQuest = async (sql: Queries, questId: string): Promise<void> => {
  await sql`delete from quests where quest_id = ${questId}`;
};
