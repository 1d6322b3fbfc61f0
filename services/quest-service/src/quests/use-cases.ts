import { windowOf } from '@platform/pagination/list';
import { once, type Repeatable } from '@platform/service-kit/idempotency';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound, requireVersion } from '@platform/service-kit/record-versions';
import type { TransactionSql } from 'postgres';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { deleteQuest, findQuest, findQuests, insertQuest, saveQuest, type QuestState } from './queries.ts';
import type { ListQuery, QuestInput, QuestPatch } from './schema.ts';

interface OneQuest {
  params: { questId: string };
}

/** What `record()` does with quests. */
export const questsOf = ({ database: { sql }, versions }: Context) => ({
  page: async (query: z.output<typeof ListQuery>) =>
    `[${(await findQuests(sql, windowOf(query))).join(',')}]`,
  find: (on: Queries, { params: { questId } }: OneQuest, lock: boolean) => findQuest(on, questId, lock),
  insert: (on: Queries, { title }: z.output<typeof QuestInput>) => insertQuest(on, title),
  save: async (on: Queries, patch: z.output<typeof QuestPatch>, { params: { questId } }: OneQuest) =>
    (await saveQuest(on, questId, patch)).json,
  remove: (on: Queries, { params: { questId } }: OneQuest) => deleteQuest(on, questId),
  /** Once this has resolved, no instance returns the old version. */
  committed: ({ params: { questId } }: OneQuest) => versions.invalidate(questId),
});

/** The quest to change. */
export interface Target {
  questId: string;
  /** The quest must have one of these versions; undefined for any. */
  expected: readonly string[] | undefined;
  /** For a change that is made once for each Idempotency-Key. */
  repeatable?: Repeatable | undefined;
}

/** Outcome of a change: the number of questions where it is another one, and a result for the caller, which is JSON. */
interface Change<T> {
  questionCount?: number;
  result: T;
}

/**
 * Changes the questions of a quest in one transaction and gives the quest a new version. Writers of one
 * quest wait for each other. Once this has resolved, no instance returns the old version. Throws
 * NotFound, Problem 412 `stale`, and errors of `change`; then nothing is written.
 */
export const changeQuest = async <T>(
  { database: { sql }, versions }: Context,
  { questId, expected, repeatable }: Target,
  change: (tx: TransactionSql, quest: QuestState) => Promise<Change<T>>,
): Promise<{ version: string; result: T }> => {
  const work = async (tx: TransactionSql) => {
    const quest = JSON.parse(orNotFound(await findQuest(tx, questId, true), 'quest')) as QuestState;
    requireVersion(expected, quest.version, 'quest');
    const { questionCount, result } = await change(tx, quest);
    const { version } = await saveQuest(tx, questId, { questionCount });
    return { version, result };
  };
  const changed = repeatable === undefined ? await sql.begin(work) : await once(sql, repeatable, work);
  await versions.invalidate(questId);
  return changed;
};

/** A quest of the demo data, which is created unless it exists. Returns its number of questions. */
export const ensureQuest = async (
  { database: { sql } }: Context,
  questId: string,
  title: string,
): Promise<number> => {
  const json = (await findQuest(sql, questId, false)) ?? (await insertQuest(sql, title, questId)).json;
  return (JSON.parse(json) as QuestState).questionCount;
};
