import type { Window } from '@platform/pagination/skip-take';
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
} from './store.ts';

/** A write that went well: what it left, and the quest's version since. */
export interface Written<T> {
  version: string;
  result: T;
}

/** One page of a quest's questions, as it goes over the wire. Throws NotFound. */
export const listQuestions = async (ctx: Context, questId: string, window: Window): Promise<Page> => {
  const read = async (): Promise<Page | undefined> => {
    const found = await readPage(ctx.database, questId, window);
    return found && { version: found.version, json: Buffer.from(JSON.stringify(found.questions)) };
  };
  const find = async (): Promise<Page | undefined> => {
    if (ctx.pages === undefined) return read();
    const version = await ctx.stamps.current(questId);
    if (version === undefined) return undefined;
    // A page read a moment later may be of a newer version; it says so itself.
    return ctx.pages.get(`${version}:${window.offset}:${window.limit}`, read);
  };
  const page = await find();
  if (page === undefined) throw new NotFound('quest');
  return page;
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

/** Gives the alternatives their places, and names to whatever has none. */
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

/** Puts a new list in the place of the old one. */
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

/** Adds a question at its order number, else at the end; those behind it move back. */
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
        throw new Conflict('question_exists', 'The quest has a question of this id.');
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

/** Gives a question another content, and another place where the order number says so. */
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

/** Takes a question out; those behind it move up. */
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
