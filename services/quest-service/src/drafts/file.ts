import { parseJson } from '@platform/service-kit/body';
import { collectIssues } from '@platform/service-kit/field-errors';
import { Conflict, ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { requestsFor } from '../large-pages.ts';
import { inOrder } from '../questions/domain.ts';
import { QuestionListInput } from '../questions/schema.ts';
import { complete, contentOf, serialiseList } from '../questions/serialised.ts';
import { readWhole, replaceQuestions } from '../questions/use-cases.ts';
import { questFields } from '../quests/schema.ts';
import type { Target } from '../quests/use-cases.ts';

/** The fields of a quest that authors write, with all questions. */
export const QuestFile = z
  .strictObject({ ...questFields, titles: questFields.titles.default([]), questions: QuestionListInput })
  .meta({ id: 'QuestFile' });

/** Maximum size in bytes. It is lower than that of a list of questions, because a file is parsed as a whole. */
export const maxFile = 2_097_152;
/** Memory of a parsed file, in bytes per byte of the file. */
const objectBytes = 15;

const parseFile = (json: Buffer): z.output<typeof QuestFile> => {
  const { data, error } = QuestFile.safeParse(parseJson(json));
  if (error === undefined) return data;
  const errors: FieldErrors = Object.create(null) as FieldErrors;
  collectIssues(errors, error.issues, 'body');
  throw new ValidationFailed(errors);
};

/** In bytes; a larger quest is exported when enough memory is free. */
const smallFile = 65_536;

/** A quest with its questions as indented JSON. Throws Conflict for a file that could not be imported again. */
const fileOf = ({ quest: { title, titles }, questions }: Awaited<ReturnType<typeof readWhole>>): string => {
  const dropOrderNumbers = (name: string, value: unknown) => (name === 'orderNumber' ? undefined : value);
  const file =
    questions &&
    JSON.stringify({ title, titles, questions: JSON.parse(questions) as unknown }, dropOrderNumbers, 2);
  if (file === undefined || Buffer.byteLength(file) >= maxFile)
    throw new Conflict(
      'quest_too_large',
      `A file has at most ${maxFile} bytes; read the questions in pages.`,
    );
  return `${file}\n`;
};

interface Export {
  questId: string;
  draft: boolean;
  /** Whether the caller has this version. */
  hasVersion(version: string): boolean;
  /** As for handlers of routes. */
  countAs(requests: number): void;
}

/**
 * Exports a quest or its draft as a file; returns no file if the caller has the version. Files have no order numbers, so that
 * adding or moving a question changes no other line. Throws NotFound, and Conflict as `fileOf`.
 */
export const exportQuest = async (
  ctx: Context,
  { questId, draft, hasVersion, countAs }: Export,
): Promise<{ version: string; file?: string }> => {
  const small = await readWhole(ctx, questId, draft, smallFile);
  const { version } = small.quest;
  if (hasVersion(version)) return { version };
  if (small.questions !== undefined) return { version, file: fileOf(small) };
  const bytes = Math.min(small.bytes, maxFile);
  // Counted here, because it takes as long to find out that a file is too large.
  countAs(requestsFor(bytes));
  return ctx.largeWork.run(bytes * objectBytes, async () => {
    const whole = await readWhole(ctx, questId, draft, maxFile);
    return { version: whole.quest.version, file: fileOf(whole) };
  });
};

/** Replaces a quest and its questions, or its draft, by a file; returns the new version. Throws as `changeQuest`. */
export const importQuest = (ctx: Context, target: Target, json: Buffer): Promise<string> =>
  ctx.largeWork.run(json.length * objectBytes, async () => {
    const { questions, ...titles } = parseFile(json);
    const completed = inOrder(questions).map((input) => complete(input, input.orderNumber));
    const list = serialiseList(completed.map((question) => ({ ...question, content: contentOf(question) })));
    const { version } = await replaceQuestions(ctx, target, list, titles);
    return version;
  });
