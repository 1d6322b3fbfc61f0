import { once, type Repeatable } from '@platform/service-kit/idempotency';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { orNotFound, requireVersion } from '@platform/service-kit/record-versions';
import type { TransactionSql } from 'postgres';
import type { Context } from '../context.ts';
import { findQuest, saveQuest } from './queries.ts';

/** What a change of questions needs of their quest. */
interface QuestState {
  version: string;
  questionCount: number;
}

/** The quest to change. */
export interface Target {
  questId: string;
  /** The subject of the caller. */
  caller: string;
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
  { questId, caller, expected, repeatable }: Target,
  change: (tx: TransactionSql, quest: QuestState) => Promise<Change<T>>,
): Promise<{ version: string; result: T }> => {
  const work = async (tx: TransactionSql) => {
    const quest = JSON.parse(orNotFound(await findQuest(tx, questId, true), 'quest')) as QuestState;
    requireVersion(expected, quest.version, 'quest');
    const { questionCount, result } = await change(tx, quest);
    const { version } = JSON.parse(await saveQuest(tx, questId, { questionCount })) as QuestState;
    return { version, result };
  };
  const changed = await oneAtATime(sql, { name: 'quest', params: { questId }, caller }, async () =>
    repeatable === undefined ? sql.begin(work) : once(sql, repeatable, work),
  );
  await versions.invalidate(questId);
  return changed;
};
