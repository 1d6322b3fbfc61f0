import { countWithin, maxBytes } from '@platform/feed/followed-list';
import type { Window } from '@platform/pagination/list';
import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import { v7 } from 'uuid';
import { Quest, type Title } from './schema.ts';

export const quests = jsonTable('quests', Object.keys(Quest.shape));

/** Reads a version that Redis does not have. Undefined for a draft, so that drafts are not cached. */
export const readVersion = async (sql: Sql, questId: string): Promise<string | undefined> => {
  const [row] = await sql<{ version: string }[]>`
    select version from quests where quest_id = ${questId} and published`;
  return row?.version;
};

/** Condition: the caller may see the quest. The draft of a published quest cannot be found by its own id. */
const visible = (sql: Queries, withDrafts: boolean) => (withDrafts ? sql`draft_of is null` : sql`published`);

/** Selects a part of the list, newest first. */
const within = (sql: Queries, { offset, limit }: Window, withDrafts: boolean) => sql`
  where ${visible(sql, withDrafts)} order by created_at desc, quest_id desc offset ${String(offset)} limit ${limit}`;

export const findQuests = (sql: Sql, window: Window, withDrafts: boolean): Promise<string[]> =>
  quests.list(sql, within(sql, window, withDrafts));

/** Maximum size of the other fields of a quest, in bytes. */
const overhead = 300;

/** Approximate size of a part of the list, in bytes. */
export const sizeOfQuests = async (sql: Sql, window: Window, withDrafts: boolean): Promise<number> => {
  const [{ size }] = await sql<[{ size: number }]>`
    select coalesce(sum(bytes + ${overhead}::int), 0)::float8 as size
    from (select bytes from quests ${within(sql, window, withDrafts)}) page`;
  return size;
};

/** Approximate sizes of quests by id, in bytes. */
export const findSizes = async (
  sql: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await sql<{ id: string; size: number }[]>`
    select quest_id as id, bytes + ${overhead}::int as size from quests where quest_id = any(${ids as string[]}::uuid[])`;
  return new Map(rows.map(({ id, size }) => [id, size]));
};

/** The quests with these ids that the caller may see, by id. */
export const findQuestsById = async (
  sql: Queries,
  ids: readonly string[],
  withDrafts: boolean,
): Promise<ReadonlyMap<string, string>> => {
  const rows = await sql<{ id: string; json: string }[]>`
    select quest_id as id, ${sql.unsafe(quests.json)} from quests
    where quest_id = any(${ids as string[]}::uuid[]) and ${visible(sql, withDrafts)}`;
  return new Map(rows.map(({ id, json }) => [id, json]));
};

/** The quests after an id, in the order of ids: at most as many as may be in memory together. */
export const findQuestsAfter = async (
  sql: Queries,
  { after, limit }: { after: string; limit: number },
  withDrafts: boolean,
) => {
  const following = sql`where quest_id > ${after} and ${visible(sql, withDrafts)} order by quest_id`;
  const sizes = await sql<{ bytes: number }[]>`select bytes from quests ${following} limit ${limit}`;
  const count = countWithin(
    sizes.map(({ bytes }) => bytes + overhead),
    maxBytes,
  );
  return sql<{ id: string; json: string }[]>`
    select quest_id as id, ${sql.unsafe(quests.json)} from quests ${following} limit ${count}`;
};

/** `lock` locks the quest for other writers until the transaction ends. */
export const findQuest = async (
  sql: Queries,
  questId: string,
  lock: boolean,
  withDrafts = true,
): Promise<string | undefined> => {
  const where = sql`where quest_id = ${questId} and ${visible(sql, withDrafts)}`;
  const [quest] = await quests.list(sql, lock ? sql`${where} for update` : where);
  return quest;
};

/** The draft of a published quest, and the version of the quest when the draft was created. The lock of the quest covers its draft. */
export const findDraft = async (
  sql: Queries,
  questId: string,
): Promise<{ json: string; basedOn: string } | undefined> => {
  const [row] = await sql<{ json: string; basedOn: string }[]>`
    select ${sql.unsafe(quests.json)}, based_on as "basedOn" from quests where draft_of = ${questId}`;
  return row;
};

/** Changes to the fields of a quest; undefined fields stay as they are. */
export interface QuestChanges {
  title?: string | undefined;
  titles?: readonly Title[] | undefined;
  published?: boolean;
  questionCount?: number | undefined;
}

/** Columns that every write sets. Times are those of the database, because clocks of instances differ. */
const columnsOf = (sql: Queries, { titles, ...changes }: QuestChanges) => ({
  ...changes,
  titles: titles && sql`${JSON.stringify(titles)}::text::json`,
  version: v7(),
  updatedAt: sql`statement_timestamp()`,
});

/** Inserts a quest without questions. For a draft of a published quest, `draftOf` and `basedOn` are its id and version. */
export const insertQuest = async (
  sql: Queries,
  quest: QuestChanges & { title: string; draftOf?: string; basedOn?: string },
  questId: string = v7(),
): Promise<Stored> => {
  const state = { questId, questionCount: 0, createdAt: sql`statement_timestamp()` };
  return { id: questId, json: await quests.insert(sql, { ...state, ...columnsOf(sql, quest) }) };
};

/** Changes a locked quest and gives it a new version. */
export const saveQuest = (sql: Queries, questId: string, changes: QuestChanges): Promise<string> =>
  quests.update(sql, { quest_id: questId }, columnsOf(sql, changes));
