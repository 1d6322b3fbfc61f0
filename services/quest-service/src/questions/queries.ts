import type { Database } from '@platform/service-kit/db';
import { and, between, eq, gte, sql } from 'drizzle-orm';
import type { Window } from '@platform/pagination/list';
import { questions, quests } from '../db/tables.ts';
import type { SerialisedQuestion } from './domain.ts';
import type { Tx } from '@platform/service-kit/db';

export type QuestionRow = Omit<typeof questions.$inferSelect, 'questId'>;

type PageRow = { version: string; bytes: number } & (
  | { questionId: string; orderNumber: number; content: string }
  | { questionId: null; orderNumber: null; content: null }
);

/**
 * Some questions in order as JSON text, with the version of their quest; undefined when the quest does not exist. Without
 * the questions when their text has more than `maxBytes`.
 * One statement, so that all belongs to the same moment. Order numbers have no gaps, so a page is a range of the index, and
 * a deep page is as fast as the first one.
 */
export const readPage = async (
  { sql: run }: Database,
  questId: string,
  { offset, limit }: Window,
  maxBytes: number,
): Promise<{ version: string; bytes: number; questions: SerialisedQuestion[] | undefined } | undefined> => {
  const from = String(offset);
  const to = String(offset + BigInt(limit));
  const rows = await run<PageRow[]>`
    with page as materialized (
      select question_id, order_number, concat('"type":', to_json(type), ',"presentation":', to_json(presentation),
        ',"titles":', titles, ',"alternatives":', alternatives) as content
      from questions
      where quest_id = ${questId} and order_number >= ${from}::bigint and order_number < ${to}::bigint
      order by order_number, question_id
    ), size as (select coalesce(sum(octet_length(content)), 0)::float8 as bytes from page)
    select version, bytes, question_id as "questionId", order_number as "orderNumber", content
    from quests cross join size left join page on bytes <= ${maxBytes}::float8
    where quest_id = ${questId}
    order by order_number, question_id`;
  const [first] = rows;
  if (first === undefined) return undefined;
  const { version, bytes } = first;
  const questions = rows.flatMap(({ questionId, orderNumber, content }) =>
    questionId === null ? [] : [{ questionId, orderNumber, content }],
  );
  return { version, bytes, questions: bytes > maxBytes ? undefined : questions };
};

const isAt = (questId: string, questionId: string) =>
  and(eq(questions.questId, questId), eq(questions.questionId, questionId));

/** One question, with the version of its quest; undefined when quest or question does not exist. */
export const findQuestion = async (
  { orm }: Database,
  questId: string,
  questionId: string,
): Promise<{ version: string; question: QuestionRow } | undefined> => {
  const [row] = await orm
    .select({ version: quests.version, question: questions })
    .from(questions)
    .innerJoin(quests, eq(quests.questId, questions.questId))
    .where(isAt(questId, questionId));
  if (row === undefined) return undefined;
  const { questId: _, ...question } = row.question;
  return { version: row.version, question };
};

export const findPlace = async (tx: Tx, questId: string, questionId: string): Promise<number | undefined> => {
  const [row] = await tx
    .select({ orderNumber: questions.orderNumber })
    .from(questions)
    .where(isAt(questId, questionId));
  return row?.orderNumber;
};

/** Inserts the questions of a JSON array in one statement: 10,000 statements would take seconds. */
export const insertQuestions = async (tx: Tx, questId: string, list: Buffer): Promise<void> => {
  await tx.execute(sql`
    insert into ${questions} (quest_id, question_id, order_number, type, presentation, titles, alternatives)
    select ${questId}::uuid, "questionId", "orderNumber", type, presentation, titles, alternatives
    from json_to_recordset(${list.toString()}::text::json)
      as given("questionId" text, "orderNumber" int, type text, presentation text, titles json, alternatives json)`);
};

/** Replaces everything except the place. */
export const saveContent = async (
  tx: Tx,
  questId: string,
  { questionId, type, presentation, titles, alternatives }: QuestionRow,
): Promise<void> => {
  const content = { type, presentation, titles, alternatives };
  await tx.update(questions).set(content).where(isAt(questId, questionId));
};

/** Moves all questions from `place` on by one: 1 makes room at `place`, -1 closes the gap before it. */
export const shiftFrom = async (tx: Tx, questId: string, place: number, by: 1 | -1): Promise<void> => {
  await tx
    .update(questions)
    .set({ orderNumber: sql`${questions.orderNumber} + ${by}::int` })
    .where(and(eq(questions.questId, questId), gte(questions.orderNumber, place)));
};

/** Moves the question from `from` to `to` and those in between by one place, in one statement. */
export const move = async (tx: Tx, questId: string, from: number, to: number): Promise<void> => {
  const by = from < to ? -1 : 1;
  await tx
    .update(questions)
    .set({
      orderNumber: sql`case when ${questions.orderNumber} = ${from}::int then ${to}::int else ${questions.orderNumber} + ${by}::int end`,
    })
    .where(
      and(
        eq(questions.questId, questId),
        between(questions.orderNumber, Math.min(from, to), Math.max(from, to)),
      ),
    );
};

export const deleteQuestion = async (tx: Tx, questId: string, questionId: string): Promise<void> => {
  await tx.delete(questions).where(isAt(questId, questionId));
};

export const deleteQuestions = async (tx: Tx, questId: string): Promise<void> => {
  await tx.delete(questions).where(eq(questions.questId, questId));
};
