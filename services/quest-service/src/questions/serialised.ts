import { v7 } from 'uuid';
import { inOrder, type SerialisedQuestion } from './domain.ts';
import type { Question, QuestionInput } from './schema.ts';

/** Adds the fields that the input may omit: ids, and the order numbers of alternatives. */
export const complete = (
  input: QuestionInput,
  orderNumber: number,
  questionId = input.questionId,
): Question => ({
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

/** The content of a question as JSON text. */
export const contentOf = ({ type, presentation, titles, alternatives }: Question): string =>
  JSON.stringify({ type, presentation, titles, alternatives }).slice(1, -1);

const chunkBytes = 1_048_576;

/** Stores texts in large blocks of memory, which are freed as a whole; many small blocks would fragment the memory. */
export const createTextStore = (): ((text: string) => Buffer) => {
  let free = Buffer.alloc(0);
  return (text) => {
    const length = Buffer.byteLength(text);
    if (length > free.length) free = Buffer.allocUnsafeSlow(Math.max(length, chunkBytes));
    const stored = free.subarray(0, length);
    stored.write(text);
    free = free.subarray(length);
    return stored;
  };
};

/** Questions as one JSON text. */
export interface SerialisedList {
  count: number;
  json: Buffer;
  /** The same questions in arrays of at most about a megabyte: a statement has several copies of its text in memory. */
  slices(): Generator<Buffer>;
}

const sliceBytes = 100_000;

/** Writes questions as a JSON array. */
export const serialiseList = (questions: readonly SerialisedQuestion[]): SerialisedList => {
  const startOf = ({ questionId, orderNumber }: SerialisedQuestion): string =>
    `{"questionId":${JSON.stringify(questionId)},"orderNumber":${orderNumber},`;
  const brackets = Buffer.byteLength('[]');
  const bytes = questions.map(
    (question) => Buffer.byteLength(`,${startOf(question)}}`) + Buffer.byteLength(question.content),
  );
  const json = Buffer.allocUnsafeSlow(bytes.reduce((sum, length) => sum + length, brackets));
  /** Offsets of the commas at which slices end. */
  const ends: number[] = [];
  let at = json.write('[');
  for (const question of questions) {
    if (at > 1) {
      if (at - (ends.at(-1) ?? 0) > sliceBytes) ends.push(at);
      at += json.write(',', at);
    }
    at += json.write(startOf(question), at);
    const { content } = question;
    at += typeof content === 'string' ? json.write(content, at) : content.copy(json, at);
    at += json.write('}', at);
  }
  const end = at;
  at += json.write(']', at);
  return {
    count: questions.length,
    json: json.subarray(0, at),
    *slices() {
      let start = 1;
      for (const slice of [...ends, end]) {
        if (slice > start)
          yield Buffer.concat([Buffer.from('['), json.subarray(start, slice), Buffer.from(']')]);
        start = slice + 1;
      }
    },
  };
};
