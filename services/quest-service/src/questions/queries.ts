import type { Window } from '@platform/pagination/list';
import type { Queries } from '@platform/service-kit/record';
import type { Sql, TransactionSql } from 'postgres';
import type { Quest } from '../quests/schema.ts';
import type { SerialisedQuestion } from './domain.ts';
import type { Question } from './schema.ts';

type PageRow = { version: string; bytes: number } & (
  | { questionId: string; orderNumber: number; content: string }
  | { questionId: null; orderNumber: null; content: null }
);

/** Maximum size of a question without titles and alternatives, in bytes: field names, type and presentation. */
const overhead = 80;

/**
 * Some questions in order as JSON text, with the version of their quest; undefined when there is no such quest, published
 * or draft. Returns no questions if their text has more than `maxBytes`. It is one statement, so that all data is from one
 * snapshot. Order numbers have no gaps, so a page is a range of the index, and a deep page is as fast as the first one.
 */
export const readPage = async (
  sql: Queries,
  { questId, published }: Pick<Quest, 'questId' | 'published'>,
  { offset, limit }: Window,
  maxBytes: number,
): Promise<{ version: string; bytes: number; questions: SerialisedQuestion[] | undefined } | undefined> => {
  const from = String(offset);
  const to = String(offset + BigInt(limit));
  const rows = await sql<PageRow[]>`
    with page as materialized (
      select question_id, order_number, type, presentation, titles, alternatives, bytes + ${overhead}::int as size
      from questions
      where quest_id = ${questId} and order_number >= ${from}::bigint and order_number < ${to}::bigint
      order by order_number, question_id
    ), size as (select coalesce(sum(size), 0)::float8 as bytes from page)
    select version, size.bytes, question_id as "questionId", order_number as "orderNumber",
      case when question_id is not null then concat('"type":', to_json(type), ',"presentation":', to_json(presentation),
        ',"titles":', page.titles, ',"alternatives":', alternatives) end as content
    from quests cross join size left join page on size.bytes <= ${maxBytes}::float8
    where quest_id = ${questId} and published = ${published}
    order by order_number, question_id`;
  const [first] = rows;
  if (first === undefined) return undefined;
  const { version, bytes } = first;
  const questions = rows.flatMap(({ questionId, orderNumber, content }) =>
    questionId === null ? [] : [{ questionId, orderNumber, content }],
  );
  return { version, bytes, questions: bytes > maxBytes ? undefined : questions };
};

/** One question as JSON text, with the version of its quest; undefined when there is none that the caller may see. */
export const findQuestion = async (
  sql: Sql,
  questId: string,
  questionId: string,
  withDrafts: boolean,
): Promise<{ version: string; json: string } | undefined> => {
  const [row] = await sql<{ version: string; json: string }[]>`
    select version, (select row_to_json(question)::text from (
      select question_id as "questionId", order_number as "orderNumber", type, presentation,
        questions.titles, alternatives
    ) question) as json
    from questions join quests using (quest_id)
    where quest_id = ${questId} and question_id = ${questionId} and draft_of is null and (published or ${withDrafts})`;
  return row;
};

/**
 * All questions in order, ten at a time: each may have a mebibyte, takes many times that as objects, and delays other
 * requests while it is parsed.
 */
export const readQuestions = (tx: TransactionSql, questId: string): AsyncIterable<Question[]> =>
  tx<Question[]>`
    select question_id as "questionId", order_number as "orderNumber", type, presentation, titles, alternatives
    from questions where quest_id = ${questId} order by order_number`.cursor(10);

/** Moves the questions of a quest to another quest, which has none. */
export const moveQuestions = async (tx: TransactionSql, from: string, to: string): Promise<void> => {
  await tx`update questions set quest_id = ${to} where quest_id = ${from}`;
};

export const findPlace = async (
  tx: TransactionSql,
  questId: string,
  questionId: string,
): Promise<number | undefined> => {
  const [row] = await tx<{ place: number }[]>`
    select order_number as place from questions where quest_id = ${questId} and question_id = ${questionId}`;
  return row?.place;
};

/** Inserts the questions of a JSON array in one statement: 10,000 statements would take seconds. */
export const insertQuestions = async (tx: TransactionSql, questId: string, list: Buffer): Promise<void> => {
  await tx`
    insert into questions (quest_id, question_id, order_number, type, presentation, titles, alternatives)
    select ${questId}::uuid, "questionId", "orderNumber", type, presentation, titles, alternatives
    from json_to_recordset(${list.toString()}::text::json)
      as question("questionId" text, "orderNumber" int, type text, presentation text, titles json, alternatives json)`;
};

/** Replaces all fields of a question except its order number. */
export const saveContent = async (
  tx: TransactionSql,
  questId: string,
  { questionId, type, presentation, titles, alternatives }: Question,
): Promise<void> => {
  await tx`
    update questions set type = ${type}, presentation = ${presentation},
      titles = ${JSON.stringify(titles)}::text::json, alternatives = ${JSON.stringify(alternatives)}::text::json
    where quest_id = ${questId} and question_id = ${questionId}`;
};

/** Moves all questions from `place` on by one: 1 makes room at `place`, -1 closes the gap before it. */
export const shiftFrom = async (
  tx: TransactionSql,
  questId: string,
  place: number,
  by: 1 | -1,
): Promise<void> => {
  await tx`
    update questions set order_number = order_number + ${by}::int
    where quest_id = ${questId} and order_number >= ${place}`;
};

/** Moves the question from `from` to `to` and those in between by one place, in one statement. */
export const move = async (tx: TransactionSql, questId: string, from: number, to: number): Promise<void> => {
  const by = from < to ? -1 : 1;
  await tx`
    update questions
    set order_number = case when order_number = ${from}::int then ${to}::int else order_number + ${by}::int end
    where quest_id = ${questId} and order_number between ${Math.min(from, to)} and ${Math.max(from, to)}`;
};

export const deleteQuestion = async (
  tx: TransactionSql,
  questId: string,
  questionId: string,
): Promise<void> => {
  await tx`delete from questions where quest_id = ${questId} and question_id = ${questionId}`;
};

export const deleteQuestions = async (tx: TransactionSql, questId: string): Promise<void> => {
  await tx`delete from questions where quest_id = ${questId}`;
};
