import type { Window } from '@platform/pagination/list';
import { Conflict, NotFound, ValidationFailed } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { changeQuest, type Target } from '../quests/use-cases.ts';
import { inOrder, maxQuestions } from './domain.ts';
import type { Page } from './pages.ts';
import type { QuestionInput } from './schema.ts';
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
  type QuestionRow,
} from './queries.ts';

/** Result of a write, and the quest's new version. */
export interface Written<T> {
  version: string;
  result: T;
}

/** One page of a quest's questions, serialised. Throws NotFound. */
export const listQuestions = async (
  { database, versions, pages }: Context,
  questId: string,
  window: Window,
): Promise<Page> => {
  const read = async (): Promise<Page | undefined> => {
    const found = await readPage(database, questId, window);
    return found && { version: found.version, json: Buffer.from(JSON.stringify(found.questions)) };
  };
  const existing = (page: Page | undefined): Page => {
    if (page === undefined) throw new NotFound('quest');
    return page;
  };
  if (pages === undefined) return existing(await read());
  const version = await versions.current(questId);
  if (version === undefined) throw new NotFound('quest');
  // The page may have a newer version than its key, because it is read a moment later.
  return existing(await pages(`${version}:${window.offset}:${window.limit}`, read));
};

/** One question. Throws NotFound. */
export const getQuestion = async (
  ctx: Context,
  questId: string,
  questionId: string,
): Promise<Written<QuestionRow>> => {
  const found = await findQuestion(ctx.database, questId, questionId);
  if (found === undefined) throw new NotFound('question');
  return { version: found.version, result: found.question };
};

/** Adds what the input may leave out: ids, and the places of alternatives. */
const complete = (input: QuestionInput, orderNumber: number, questionId = input.questionId): QuestionRow => ({
  questionId: questionId ?? v7(),
  orderNumber,
  type: input.type,
  presentation: input.presentation,
  titles: input.titles,
  alternatives: inOrder(input.alternatives).map(
    ({ alternativeId = v7(), type, orderNumber: place, titles }) => ({
      alternativeId,
      type,
      orderNumber: place,
      titles,
    }),
  ),
});

const placeUpTo = (last: number, wanted = last): number => {
  if (wanted > last) throw new ValidationFailed({ orderNumber: [`must be from 0 to ${last}`] });
  return wanted;
};

const written = <T>({ quest, result }: { quest: { version: string }; result: T }): Written<T> => ({
  version: quest.version,
  result,
});

/** Replaces all questions of a quest. */
export const replaceQuestions = async (
  ctx: Context,
  target: Target,
  inputs: QuestionInput[],
): Promise<Written<QuestionRow[]>> => {
  const rows = inOrder(inputs).map((input, place) => complete(input, place));
  return written(
    await changeQuest(ctx, target, async (tx) => {
      await deleteQuestions(tx, target.questId);
      await insertQuestions(tx, target.questId, rows);
      return { quest: { questionCount: rows.length }, result: rows };
    }),
  );
};

/** Adds a question at its order number, or at the end without one; the following questions move back. */
export const addQuestion = async (
  ctx: Context,
  target: Target,
  input: QuestionInput,
): Promise<Written<QuestionRow>> =>
  written(
    await changeQuest(ctx, target, async (tx, { questId, questionCount }) => {
      if (questionCount >= maxQuestions)
        throw new Conflict('quest_full', `A quest has at most ${maxQuestions} questions.`);
      const row = complete(input, placeUpTo(questionCount, input.orderNumber));
      if ((await findPlace(tx, questId, row.questionId)) !== undefined)
        throw new Conflict('question_exists', 'The quest already has a question with this id.');
      if (row.orderNumber < questionCount) await shiftFrom(tx, questId, row.orderNumber, 1);
      await insertQuestions(tx, questId, [row]);
      return { quest: { questionCount: questionCount + 1 }, result: row };
    }),
  );

const placeOf = async (...where: Parameters<typeof findPlace>): Promise<number> => {
  const place = await findPlace(...where);
  if (place === undefined) throw new NotFound('question');
  return place;
};

/** Replaces the content of a question; another order number moves it. */
export const replaceQuestion = async (
  ctx: Context,
  target: Target,
  questionId: string,
  input: QuestionInput,
): Promise<Written<QuestionRow>> => {
  if (input.questionId !== undefined && input.questionId !== questionId)
    throw new ValidationFailed({ questionId: ['must be the one in the path'] });
  return written(
    await changeQuest(ctx, target, async (tx, { questId, questionCount }) => {
      const from = await placeOf(tx, questId, questionId);
      const to = placeUpTo(questionCount - 1, input.orderNumber ?? from);
      const row = complete(input, to, questionId);
      await saveContent(tx, questId, row);
      if (from !== to) await move(tx, questId, from, to);
      return { result: row };
    }),
  );
};

/** Deletes a question; the following questions move up. */
export const removeQuestion = async (
  ctx: Context,
  target: Target,
  questionId: string,
): Promise<Written<undefined>> =>
  written(
    await changeQuest(ctx, target, async (tx, { questId, questionCount }) => {
      const place = await placeOf(tx, questId, questionId);
      await deleteQuestion(tx, questId, questionId);
      await shiftFrom(tx, questId, place, -1);
      return { quest: { questionCount: questionCount - 1 }, result: undefined };
    }),
  );
