import type { Window } from '@platform/pagination/list';
import { NotFound, Problem } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import type { Tx } from '@platform/service-kit/db';
import {
  deleteQuest,
  findQuest,
  findQuests,
  insertQuest,
  lockQuest,
  saveQuest,
  type QuestRow,
} from './queries.ts';

/** The quest to change. */
export interface Target {
  questId: string;
  /** The quest must have one of these versions; undefined for any. */
  expected: readonly string[] | undefined;
}

export const createQuest = (
  ctx: Context,
  { title, questId = v7() }: { title: string; questId?: string },
): Promise<QuestRow> => insertQuest(ctx.database, { questId, title, version: v7(), questionCount: 0 });

export const listQuests = (ctx: Context, window: Window): Promise<QuestRow[]> =>
  findQuests(ctx.database, window);

export const findOrUndefined = (ctx: Context, questId: string): Promise<QuestRow | undefined> =>
  findQuest(ctx.database, questId);

export const getQuest = async (ctx: Context, questId: string): Promise<QuestRow> => {
  const quest = await findOrUndefined(ctx, questId);
  if (quest === undefined) throw new NotFound('quest');
  return quest;
};

const claim = async (tx: Tx, { questId, expected }: Target): Promise<QuestRow> => {
  const quest = await lockQuest(tx, questId);
  if (quest === undefined) throw new NotFound('quest');
  if (expected?.includes(quest.version) === false) {
    const detail = 'Somebody else has changed the quest; read it again.';
    throw new Problem({ status: 412, code: 'quest_changed', detail });
  }
  return quest;
};

/** Outcome of a change: new values of the quest, and a result for the caller. */
export interface Change<T> {
  quest?: Partial<Pick<QuestRow, 'title' | 'questionCount'>>;
  result: T;
}

/**
 * Changes a quest or its questions in one transaction and gives the quest a new version. Writers of one
 * quest wait for each other. Once this has resolved, no instance returns the old version. Throws
 * NotFound, Problem 412 `quest_changed`, and errors of `change`; then nothing is written.
 */
export const changeQuest = async <T>(
  ctx: Context,
  target: Target,
  change: (tx: Tx, quest: QuestRow) => Promise<Change<T>>,
): Promise<{ quest: QuestRow; result: T }> => {
  const changed = await ctx.database.orm.transaction(async (tx) => {
    const before = await claim(tx, target);
    const { quest: values, result } = await change(tx, before);
    const quest = await saveQuest(tx, { ...before, ...values, version: v7() });
    return { quest, result };
  });
  await ctx.versions.invalidate(target.questId);
  return changed;
};

export const renameQuest = async (ctx: Context, target: Target, title: string): Promise<QuestRow> => {
  const { quest } = await changeQuest(ctx, target, async () => ({ quest: { title }, result: undefined }));
  return quest;
};

export const removeQuest = async (ctx: Context, target: Target): Promise<void> => {
  await ctx.database.orm.transaction(async (tx) => {
    await claim(tx, target);
    await deleteQuest(tx, target.questId);
  });
  await ctx.versions.invalidate(target.questId);
};
