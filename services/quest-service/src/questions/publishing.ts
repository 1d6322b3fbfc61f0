import { Problem, type FieldErrors } from '@platform/service-kit/problem';
import type { TransactionSql } from 'postgres';
import { presentations } from '../db/tables.ts';
import type { Quest, Title } from '../quests/schema.ts';
import { deleteQuestions, moveQuestions, readQuestions } from './queries.ts';
import type { Question } from './schema.ts';

/** Presentations that fit a type of question, and the least number of its alternatives. Source: docs/quest-service.md. */
const rules: Record<Question['type'], { fitting: readonly Question['presentation'][]; least: number }> = {
  SINGLE_CHOICE: { fitting: presentations, least: 1 },
  MULTIPLE_CHOICE: { fitting: ['HORIZONTAL', 'VERTICAL'], least: 1 },
  OPEN_TEXT: { fitting: ['HORIZONTAL', 'VERTICAL'], least: 0 },
  // The ends of the scale.
  SCALE: { fitting: ['HORIZONTAL', 'VERTICAL'], least: 2 },
};

const missingIn = (titles: readonly Title[], languages: ReadonlySet<string>): string[] => {
  const present = new Set(titles.map(({ languageCode }) => languageCode));
  return [...languages].filter((language) => !present.has(language)).map((language) => `has no ${language}`);
};

/** What keeps a question from being published in these languages: messages, with their paths in the file of the quest. */
export const faultsOf = (
  { questionId, orderNumber, type, presentation, titles, alternatives }: Question,
  languages: ReadonlySet<string>,
): { path: string; message: string }[] => {
  const { fitting, least } = rules[type];
  const at = (field: string, ...messages: string[]) =>
    messages.map((message) => ({
      path: `questions.${orderNumber}.${field}`,
      message: `${message} (${questionId})`,
    }));
  return [
    ...(fitting.includes(presentation)
      ? []
      : at('presentation', `must be ${fitting.join(' or ')} for ${type}`)),
    ...at('titles', ...missingIn(titles, languages)),
    ...(alternatives.length < least ? at('alternatives', `must be at least ${least} for ${type}`) : []),
    ...(type === 'OPEN_TEXT' && alternatives.length > 0
      ? at('alternatives', `must be none for ${type}`)
      : []),
    ...alternatives.flatMap((alternative, place) =>
      at(`alternatives.${place}.titles`, ...missingIn(alternative.titles, languages)),
    ),
  ];
};

/** In messages. All of a large quest could be megabytes. */
const maxFaults = 1000;

/** The languages of the titles of a quest, or where it has none those of its questions. */
const languagesOf = async (tx: TransactionSql, { questId, titles }: Quest): Promise<Set<string>> => {
  const languages = new Set(titles.map(({ languageCode }) => languageCode));
  if (languages.size > 0) return languages;
  for await (const questions of readQuestions(tx, questId))
    for (const title of questions.flatMap((question) => question.titles)) languages.add(title.languageCode);
  return languages;
};

/** Gives the questions of a draft to its quest. Throws Problem 409 `not_publishable`, whose errors are all its faults. */
export const publishQuestions = async (tx: TransactionSql, draft: Quest, questId: string): Promise<void> => {
  const errors: FieldErrors = {};
  if (draft.questionCount === 0) errors['questions'] = ['must not be empty'];
  const languages = await languagesOf(tx, draft);
  let count = 0;
  for await (const questions of readQuestions(tx, draft.questId))
    for (const { path, message } of questions.flatMap((question) => faultsOf(question, languages)))
      if (count++ < maxFaults) (errors[path] ??= []).push(message);
  const detail = `The quest has ${Math.max(count, 1)} faults; \`errors\` names them, at most ${maxFaults}.`;
  if (Object.keys(errors).length > 0)
    throw new Problem({ status: 409, code: 'not_publishable', detail, errors });
  if (draft.questId === questId) return;
  await deleteQuestions(tx, questId);
  await moveQuestions(tx, draft.questId, questId);
};
