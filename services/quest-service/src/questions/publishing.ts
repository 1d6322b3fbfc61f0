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

/** What keeps a question from being published in these languages: messages, with their paths in the file of the quest. */
export const faultsOf = (
  { questionId, orderNumber, type, presentation, titles, alternatives }: Question,
  languages: readonly string[],
): { path: string; message: string }[] => {
  const { fitting, least } = rules[type];
  const at = (field: string, isFault: boolean, message: string) =>
    isFault ? [{ path: `questions.${orderNumber}.${field}`, message: `${message} (${questionId})` }] : [];
  const untranslated = (field: string, texts: readonly Title[]) => {
    const present = new Set(texts.map(({ languageCode }) => languageCode));
    const missing = languages.filter((language) => !present.has(language));
    return at(field, missing.length > 0, `has no ${missing.join(', ')}`);
  };
  const count = alternatives.length;
  return [
    ...at('presentation', !fitting.includes(presentation), `must be ${fitting.join(' or ')} for ${type}`),
    ...untranslated('titles', titles),
    ...at('alternatives', count < least, `must be at least ${least} for ${type}`),
    ...at('alternatives', type === 'OPEN_TEXT' && count > 0, `must be none for ${type}`),
    ...alternatives.flatMap((one, place) => untranslated(`alternatives.${place}.titles`, one.titles)),
  ];
};

/** In messages. All of a large quest could be megabytes. */
const maxFaults = 1000;
/** As many as a quest can have titles. */
const maxLanguages = 100;

const notPublishable = (errors: FieldErrors): Problem => {
  const detail = `The quest cannot be published: \`errors\` names at most ${maxFaults} of its faults.`;
  return new Problem({ status: 409, code: 'not_publishable', detail, errors });
};

/** The languages of the titles of a quest, or where it has none those of its questions. Throws Problem for too many. */
const languagesOf = async (tx: TransactionSql, { questId, titles }: Quest): Promise<string[]> => {
  const languages = new Set(titles.map(({ languageCode }) => languageCode));
  if (languages.size > 0) return [...languages];
  for await (const questions of readQuestions(tx, questId)) {
    for (const title of questions.flatMap((question) => question.titles)) languages.add(title.languageCode);
    // Each question would lack almost all of them, and each of its faults would name these.
    if (languages.size > maxLanguages)
      throw notPublishable({
        titles: [`must name the languages: the questions have more than ${maxLanguages}`],
      });
  }
  return [...languages];
};

/** Gives the questions of a draft to its quest. Throws Problem 409 `not_publishable`, whose errors are all its faults. */
export const publishQuestions = async (tx: TransactionSql, draft: Quest, questId: string): Promise<void> => {
  const errors: FieldErrors = {};
  if (draft.questionCount === 0) errors['questions'] = ['must not be empty'];
  const languages = await languagesOf(tx, draft);
  let left = maxFaults;
  for await (const questions of readQuestions(tx, draft.questId)) {
    const faults = questions.flatMap((question) => faultsOf(question, languages)).slice(0, left);
    for (const { path, message } of faults) (errors[path] ??= []).push(message);
    left -= faults.length;
    if (left === 0) break;
  }
  if (Object.keys(errors).length > 0) throw notPublishable(errors);
  if (draft.questId === questId) return;
  await deleteQuestions(tx, questId);
  await moveQuestions(tx, draft.questId, questId);
};
