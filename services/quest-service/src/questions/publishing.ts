import { Problem, type FieldErrors } from '@platform/service-kit/problem';
import type { TransactionSql } from 'postgres';
import { presentations } from '../db/tables.ts';
import type { Quest, Title } from '../quests/schema.ts';
import { deleteQuestions, moveQuestions, readQuestions } from './queries.ts';
import type { Question } from './schema.ts';

/** The allowed presentations and minimum number of alternatives of each question type. Source: docs/quest-service.md. */
const rules: Record<Question['type'], { allowed: readonly Question['presentation'][]; min: number }> = {
  SINGLE_CHOICE: { allowed: presentations, min: 1 },
  MULTIPLE_CHOICE: { allowed: ['HORIZONTAL', 'VERTICAL'], min: 1 },
  OPEN_TEXT: { allowed: ['HORIZONTAL', 'VERTICAL'], min: 0 },
  // The two ends of the scale.
  SCALE: { allowed: ['HORIZONTAL', 'VERTICAL'], min: 2 },
};

/** The errors that prevent publishing a question in these languages, with their paths in the file of the quest. */
export const faultsOf = (
  { questionId, orderNumber, type, presentation, titles, alternatives }: Question,
  languages: readonly string[],
): { path: string; message: string }[] => {
  const { allowed, min } = rules[type];
  const fault = (field: string, isFault: boolean, message: string) =>
    isFault ? [{ path: `questions.${orderNumber}.${field}`, message: `${message} (${questionId})` }] : [];
  const untranslated = (field: string, texts: readonly Title[]) => {
    const present = new Set(texts.map(({ languageCode }) => languageCode));
    const missing = languages.filter((language) => !present.has(language));
    return fault(field, missing.length > 0, `has no ${missing.join(', ')}`);
  };
  const count = alternatives.length;
  return [
    ...fault('presentation', !allowed.includes(presentation), `must be ${allowed.join(' or ')} for ${type}`),
    ...untranslated('titles', titles),
    ...fault('alternatives', count < min, `must be at least ${min} for ${type}`),
    ...fault('alternatives', type === 'OPEN_TEXT' && count > 0, `must be none for ${type}`),
    ...alternatives.flatMap((alternative, index) =>
      untranslated(`alternatives.${index}.titles`, alternative.titles),
    ),
  ];
};

/** Maximum number of messages: all of a large quest could take megabytes. */
const maxFaults = 1000;
/** Maximum number of languages: a quest can have as many titles. */
const maxLanguages = 100;

const notPublishable = (errors: FieldErrors): Problem => {
  const detail = `The quest cannot be published: \`errors\` names at most ${maxFaults} of its faults.`;
  return new Problem({ status: 409, code: 'not_publishable', detail, errors });
};

/** The languages of the titles of a quest or, if it has none, of its questions. Throws Problem if there are too many. */
const languagesOf = async (tx: TransactionSql, { questId, titles }: Quest): Promise<string[]> => {
  const languages = new Set(titles.map(({ languageCode }) => languageCode));
  if (languages.size > 0) return [...languages];
  for await (const questions of readQuestions(tx, questId)) {
    for (const title of questions.flatMap((question) => question.titles)) languages.add(title.languageCode);
    // Each question would lack almost all of them, and each of its messages would list them.
    if (languages.size > maxLanguages)
      throw notPublishable({
        titles: [`must name the languages: the questions have more than ${maxLanguages}`],
      });
  }
  return [...languages];
};

/** Moves the questions of a draft to its quest. Throws Problem 409 `not_publishable` with the errors of the draft. */
export const publishQuestions = async (tx: TransactionSql, draft: Quest, questId: string): Promise<void> => {
  const errors: FieldErrors = {};
  if (draft.questionCount === 0) errors['questions'] = ['must not be empty'];
  const languages = await languagesOf(tx, draft);
  let remaining = maxFaults;
  for await (const questions of readQuestions(tx, draft.questId)) {
    const faults = questions.flatMap((question) => faultsOf(question, languages)).slice(0, remaining);
    for (const { path, message } of faults) (errors[path] ??= []).push(message);
    remaining -= faults.length;
    if (remaining === 0) break;
  }
  if (Object.keys(errors).length > 0) throw notPublishable(errors);
  if (draft.questId === questId) return;
  await deleteQuestions(tx, questId);
  await moveQuestions(tx, draft.questId, questId);
};
