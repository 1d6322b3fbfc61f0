import { parseItems } from './json-items.ts';
import { ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import { inOrder, maxQuestions, misplaced, repeated, type Fault, type SerialisedQuestion } from './domain.ts';
import { complete, contentOf, createTextStore } from './serialised.ts';
import { QuestionInput } from './schema.ts';

/** Maximum size of a question in bytes of JSON: as objects, it takes many times as much memory. */
const maxQuestionBytes = 1_048_576;

/**
 * Parses the JSON of all questions of a quest and completes them, sorted by order number. Only their texts and one parsed
 * question are in memory. Throws BadRequest and ValidationFailed.
 */
export const parseQuestionList = async (json: Buffer): Promise<SerialisedQuestion[]> => {
  const store = createTextStore();
  const questions = await parseItems(json, {
    item: QuestionInput,
    maxItems: maxQuestions,
    maxItemBytes: maxQuestionBytes,
    convert: (input) => {
      const question = complete(input, 0);
      return {
        questionId: question.questionId,
        hasId: input.questionId !== undefined,
        orderNumber: input.orderNumber,
        content: store(contentOf(question)),
      };
    },
  });
  const errors: FieldErrors = {};
  const report = (field: string, faults: readonly Fault[]): void => {
    for (const { index, message } of faults.slice(0, 100)) errors[`${index}.${field}`] = [message];
  };
  report('orderNumber', misplaced(questions));
  report('questionId', repeated(questions.map(({ hasId, questionId }) => (hasId ? questionId : undefined))));
  if (Object.keys(errors).length > 0) throw new ValidationFailed(errors);
  return inOrder(questions);
};
