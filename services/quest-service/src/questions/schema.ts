import { skipTakeQuery } from '@platform/pagination/list';
import { boundedList } from '@platform/service-kit/bounded-list';
import { z } from 'zod';
import { presentations, questionTypes } from '../db/tables.ts';
import { each, QuestPath, Title, titleList } from '../quests/schema.ts';
import { maxQuestions, misplaced, repeated } from './domain.ts';

/** The first value is required by the contract, as in db/tables.ts. */
export const alternativeTypes = ['DEFAULT', 'OTHER', 'NONE_OF_THE_ABOVE'] as const;

/** It is part of paths, so it has only characters that need no escaping. */
const identifier = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"');

const titles = titleList(1);

const orderNumber = z
  .int32()
  .min(0)
  .optional()
  .meta({ description: 'Position from 0; set for all items of a list or for none', example: 0 });

const AlternativeInput = z
  .strictObject({
    alternativeId: identifier.optional(),
    type: z.enum(alternativeTypes).default('DEFAULT'),
    orderNumber,
    titles,
  })
  .meta({ id: 'AlternativeInput' });

const alternatives = boundedList(AlternativeInput, 0, 500)
  .superRefine(each('orderNumber', misplaced))
  .superRefine(each('alternativeId', (items) => repeated(items.map(({ alternativeId }) => alternativeId))))
  .default([]);

export const QuestionInput = z
  .strictObject({
    questionId: identifier.optional(),
    orderNumber,
    type: z.enum(questionTypes),
    presentation: z.enum(presentations),
    titles,
    alternatives,
  })
  .meta({ id: 'QuestionInput' });

/** All questions of a quest as in a file; a list in a request of its own is parsed question by question (list-input.ts). */
export const QuestionListInput = boundedList(QuestionInput, 0, maxQuestions)
  .superRefine(each('orderNumber', misplaced))
  .superRefine(each('questionId', (items) => repeated(items.map(({ questionId }) => questionId))));

const Alternative = z
  .object({
    alternativeId: z.string(),
    type: z.enum(alternativeTypes),
    orderNumber: z.int32(),
    titles: z.array(Title),
  })
  .meta({ id: 'Alternative' });

export const Question = z
  .object({
    questionId: z.string(),
    orderNumber: z.int32(),
    type: z.enum(questionTypes),
    presentation: z.enum(presentations),
    titles: z.array(Title),
    alternatives: z.array(Alternative),
  })
  .meta({ id: 'Question' });

export const QuestionPath = QuestPath.extend({ questionId: identifier.meta({ example: 'hiking-1' }) });

export const PageQuery = z.strictObject(skipTakeQuery);

export type QuestionInput = z.output<typeof QuestionInput>;
export type Question = z.output<typeof Question>;
