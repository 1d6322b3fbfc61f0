import { withIdempotencyKey } from '@platform/service-kit/idempotency';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { Conflict } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound, requireVersion } from '@platform/service-kit/record-versions';
import type { TransactionSql } from 'postgres';
import type { Context } from '../context.ts';
import { findDraft, findQuest, insertQuest, quests, saveQuest, type QuestChanges } from './queries.ts';
import type { Quest } from './schema.ts';

/** The quest to change. */
export interface Target {
  questId: string;
  /** The subject of the caller. */
  caller: string;
  /** True: changes the draft of a published quest, not the quest itself. */
  draft?: boolean;
  /** The quest, or its draft, must have one of these versions; undefined for any. */
  expected: readonly string[] | undefined;
  /** The change is applied once for each key. */
  idempotencyKey?: string | undefined;
  /** The content of a request that may have a key. */
  request?: object;
}

const parse = (json: string): Quest => JSON.parse(json) as Quest;

const lockQuest = async (tx: TransactionSql, questId: string): Promise<Quest> =>
  parse(orNotFound(await findQuest(tx, questId, true), 'quest'));

/** The quest, or its draft. Throws NotFound. */
export const getQuest = async (sql: Queries, questId: string, draft: boolean): Promise<Quest> => {
  const quest = parse(orNotFound(await findQuest(sql, questId, false), 'quest'));
  return draft && quest.published ? parse(orNotFound(await findDraft(sql, questId), 'draft').json) : quest;
};

/**
 * The draft of a locked quest; until the quest is published, this is the quest itself. Undefined if there is none. Throws a
 * Conflict if the quest has changed since the draft was created, because publishing the draft would undo that change.
 */
const usableDraft = async (tx: TransactionSql, quest: Quest): Promise<Quest | undefined> => {
  if (!quest.published) return quest;
  const draft = await findDraft(tx, quest.questId);
  if (draft !== undefined && draft.basedOn !== quest.version)
    throw new Conflict(
      'draft_outdated',
      'The quest was changed after this draft was created. Export the draft, delete it, and create it again with that change.',
    );
  return draft && parse(draft.json);
};

/** Creates a draft without questions. Returns it with the version of the quest, which is the version that the caller knows. */
const createDraft = async (tx: TransactionSql, quest: Quest): Promise<Quest> => {
  const { questId: draftOf, version, title, titles } = quest;
  const { json } = await insertQuest(tx, { title, titles, published: false, draftOf, basedOn: version });
  return { ...parse(json), version };
};

/** Runs `work` in a transaction; writers of one quest wait for each other. */
const inTurn = <T>(
  { database: { sql } }: Context,
  { questId, caller, idempotencyKey: key, request }: Target,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> =>
  oneAtATime(sql, { name: 'quest', params: { questId }, caller }, () =>
    withIdempotencyKey(sql, { owner: caller, key, request }, work),
  );

/** Outcome of a change: the fields of the quest to save, and a result for the caller, which must be JSON. */
interface Change<T> {
  fields?: QuestChanges;
  result: T;
}

/**
 * Changes the questions of a quest in one transaction and gives the quest a new version; `change` gets the quest or its
 * draft. Writers of one quest wait for each other. Once this has resolved, no instance returns the old version. Throws
 * NotFound, Problem 412 `stale`, Conflict `draft_outdated`, and errors of `change`; then nothing is written.
 */
export const changeQuest = async <T>(
  ctx: Context,
  target: Target,
  change: (tx: TransactionSql, quest: Quest) => Promise<Change<T>>,
): Promise<{ version: string; result: T }> => {
  const { questId, draft, expected } = target;
  const changed = await inTurn(ctx, target, async (tx) => {
    const stored = await lockQuest(tx, questId);
    const quest = draft ? ((await usableDraft(tx, stored)) ?? (await createDraft(tx, stored))) : stored;
    requireVersion(expected, quest.version, 'quest');
    const { fields = {}, result } = await change(tx, quest);
    const { version } = parse(await saveQuest(tx, quest.questId, fields));
    return { version, result };
  });
  // Drafts are not cached.
  if (!draft) await ctx.versions.invalidate(questId);
  return changed;
};

/**
 * Publishes a draft; a published quest without one stays as it is. `publishQuestions` moves the questions of the draft to the
 * quest. Throws NotFound, Problem 412 `stale`, Conflict `draft_outdated`, and errors of `publishQuestions`.
 */
export const publishQuest = async (
  ctx: Context,
  target: Target,
  publishQuestions: (tx: TransactionSql, draft: Quest, questId: string) => Promise<void>,
): Promise<Quest> => {
  const { questId, expected } = target;
  const published = await inTurn(ctx, target, async (tx) => {
    const quest = await lockQuest(tx, questId);
    const draft = await usableDraft(tx, quest);
    requireVersion(expected, (draft ?? quest).version, 'quest');
    if (draft === undefined) return quest;
    await publishQuestions(tx, draft, questId);
    if (draft.questId !== questId) await quests.remove(tx, { quest_id: draft.questId });
    const { title, titles, questionCount } = draft;
    return parse(await saveQuest(tx, questId, { title, titles, questionCount, published: true }));
  });
  await ctx.versions.invalidate(questId);
  return published;
};

/** Deletes the draft of a published quest. Throws NotFound, and Problem 412 `stale`. */
export const deleteDraft = (ctx: Context, target: Target): Promise<void> =>
  inTurn(ctx, target, async (tx) => {
    await lockQuest(tx, target.questId);
    const draft = parse(orNotFound(await findDraft(tx, target.questId), 'draft').json);
    requireVersion(target.expected, draft.version, 'draft');
    await quests.remove(tx, { quest_id: draft.questId });
  });
