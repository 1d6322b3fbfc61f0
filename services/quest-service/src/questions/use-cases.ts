import type { Window } from '@platform/pagination/list';
import { Conflict, ValidationFailed } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Context } from '../context.ts';
import { maxPage, readPageOf, requirePage, smallPage } from '../large-pages.ts';
import type { Quest } from '../quests/schema.ts';
import { changeQuest, getQuest, type Target } from '../quests/use-cases.ts';
import { maxQuestions, type SerialisedQuestion } from './domain.ts';
import type { Page } from './pages.ts';
import type { Question, QuestionInput } from './schema.ts';
import { complete, serialiseList, type SerialisedList } from './serialised.ts';
import {
  deleteQuestion,
  deleteQuestions,
  findPlace,
  findQuestion,
  insertQuestions,
  move,
  readPage,
  saveContent,
  shiftFrom,
} from './queries.ts';

const pageOf = (version: string, questions: readonly SerialisedQuestion[]): Page => ({
  version,
  json: serialiseList(questions).json,
});

/** Result of a write, and the quest's new version. */
export interface Written<T> {
  version: string;
  result: T;
}

/** Reads a page without having many large ones in memory at once. Throws ValidationFailed for one beyond `maxPage`. */
const readBoundedPage = async (
  ctx: Context,
  quest: Pick<Quest, 'questId' | 'published'>,
  window: Window,
): Promise<Page | undefined> => {
  const { sql } = ctx.database;
  const page = await readPage(sql, quest, window, smallPage);
  if (page === undefined) return undefined;
  if (page.questions !== undefined) return pageOf(page.version, page.questions);
  return readPageOf(ctx, page.bytes, async () => {
    const large = await readPage(sql, quest, window, maxPage);
    // The page may have grown since its size was read.
    requirePage(large?.bytes ?? 0);
    return large?.questions && pageOf(large.version, large.questions);
  });
};

/**
 * One page of the questions of a published quest as JSON; without the JSON if the caller has the version. Undefined
 * if no such quest is published. Throws ValidationFailed for a page that is too large.
 */
export const listQuestions = async (
  ctx: Context,
  questId: string,
  window: Window,
  hasVersion: (version: string) => boolean,
): Promise<Page | { version: string; json?: undefined } | undefined> => {
  const { versions, pages } = ctx;
  const read = () => readBoundedPage(ctx, { questId, published: true }, window);
  if (pages === undefined) return read();
  const version = await versions.current(questId);
  if (version === undefined) return undefined;
  if (hasVersion(version)) return { version };
  // The page may have a newer version than its key, because it is read a moment later.
  return pages(`${version}:${window.offset}:${window.limit}`, read);
};

/** One page of a quest that is a draft. It is not cached. Throws NotFound, and ValidationFailed as above. */
export const listDraft = async (ctx: Context, questId: string, window: Window): Promise<Page> =>
  orNotFound(await readBoundedPage(ctx, { questId, published: false }, window), 'quest');

/** A quest or its draft, and all its questions as JSON text unless they have more `bytes` than `maxBytes`. Throws NotFound. */
export const readWhole = async (
  { database: { sql } }: Context,
  questId: string,
  draft: boolean,
  maxBytes: number,
): Promise<{ quest: Quest; bytes: number; questions: string | undefined }> =>
  sql.begin('isolation level repeatable read read only', async (snapshot) => {
    const quest = await getQuest(snapshot, questId, draft);
    const page = await readPage(snapshot, quest, { offset: 0n, limit: maxQuestions }, maxBytes);
    const questions = page?.questions && serialiseList(page.questions).json.toString();
    return { quest, bytes: page?.bytes ?? 0, questions };
  });

/** One question as JSON text; of a draft only with `withDrafts`. Throws NotFound. */
export const getQuestion = async (
  { database: { sql } }: Context,
  questId: string,
  questionId: string,
  withDrafts: boolean,
): Promise<{ version: string; json: string }> =>
  orNotFound(await findQuestion(sql, questId, questionId, withDrafts), 'question');

const requirePlace = (last: number, requested = last): number => {
  if (requested > last) throw new ValidationFailed({ orderNumber: [`must be from 0 to ${last}`] });
  return requested;
};

/** Replaces all questions of a quest or of its draft, and its titles if there are any; returns the new list as JSON. */
export const replaceQuestions = (
  ctx: Context,
  target: Target,
  { count, json, slices }: SerialisedList,
  titles?: Pick<Quest, 'title' | 'titles'>,
): Promise<Written<Buffer>> =>
  changeQuest(ctx, target, async (tx, { questId }) => {
    await deleteQuestions(tx, questId);
    for (const slice of slices()) await insertQuestions(tx, questId, slice);
    return { fields: { ...titles, questionCount: count }, result: json };
  });

/** Adds a question at its order number, or at the end without one; the following questions move back. */
export const addQuestion = (ctx: Context, target: Target, input: QuestionInput): Promise<Written<Question>> =>
  changeQuest(ctx, target, async (tx, { questionCount }) => {
    if (questionCount >= maxQuestions)
      throw new Conflict('quest_full', `A quest has at most ${maxQuestions} questions.`);
    const row = complete(input, requirePlace(questionCount, input.orderNumber));
    if ((await findPlace(tx, target.questId, row.questionId)) !== undefined)
      throw new Conflict('question_exists', 'The quest already has a question with this id.');
    if (row.orderNumber < questionCount) await shiftFrom(tx, target.questId, row.orderNumber, 1);
    await insertQuestions(tx, target.questId, Buffer.from(JSON.stringify([row])));
    return { fields: { questionCount: questionCount + 1 }, result: row };
  });

const placeOf = async (...where: Parameters<typeof findPlace>): Promise<number> =>
  orNotFound(await findPlace(...where), 'question');

/** Replaces the content of a question; another order number moves it. */
export const replaceQuestion = async (
  ctx: Context,
  target: Target,
  questionId: string,
  input: QuestionInput,
): Promise<Written<Question>> => {
  if (input.questionId !== undefined && input.questionId !== questionId)
    throw new ValidationFailed({ questionId: ['must be the id in the path'] });
  return changeQuest(ctx, target, async (tx, { questionCount }) => {
    const from = await placeOf(tx, target.questId, questionId);
    const to = requirePlace(questionCount - 1, input.orderNumber ?? from);
    const row = complete(input, to, questionId);
    await saveContent(tx, target.questId, row);
    if (from !== to) await move(tx, target.questId, from, to);
    return { result: row };
  });
};

/** Deletes a question; the following questions move up. */
export const removeQuestion = (
  ctx: Context,
  target: Target,
  questionId: string,
): Promise<Written<undefined>> =>
  changeQuest(ctx, target, async (tx, { questionCount }) => {
    const place = await placeOf(tx, target.questId, questionId);
    await deleteQuestion(tx, target.questId, questionId);
    await shiftFrom(tx, target.questId, place, -1);
    return { fields: { questionCount: questionCount - 1 }, result: undefined };
  });
