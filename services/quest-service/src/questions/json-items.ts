import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { parseJson } from '@platform/service-kit/body';
import { collectIssues, maxErrors } from '@platform/service-kit/field-errors';
import { BadRequest, ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';

const [
  quote = 0,
  backslash = 0,
  openBracket = 0,
  closeBracket = 0,
  openBrace = 0,
  closeBrace = 0,
  comma = 0,
] = Buffer.from('"\\[]{},');

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The index of the quote that ends the string that begins at `start`; the length of the text if there is none up to `last`. */
const endOfString = (json: Buffer, start: number, last: number): number => {
  for (let at = json.indexOf(quote, start + 1); at !== -1 && at <= last; at = json.indexOf(quote, at + 1)) {
    let before = at;
    while (json[before - 1] === backslash) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return json.length;
};

const malformed = (): BadRequest => new BadRequest('malformed_json', 'The body is not a valid JSON array.');

const trimmed = (json: Buffer): Buffer => {
  let start = 0;
  while (isSpace(json[start])) start++;
  let end = json.length;
  while (isSpace(json[end - 1])) end--;
  return json.subarray(start, end);
};

/**
 * Yields the text of each item of a JSON array. Text that begins with a bracket and is not a JSON array either throws
 * BadRequest or yields an item that is not JSON. It ends at an item with more than `maxItemBytes`, which is cut off, because
 * searching for its end would block the process.
 */
function* itemsOf(array: Buffer, maxItemBytes: number): Generator<Buffer> {
  if (array.at(-1) !== closeBracket || array.length < 2) throw malformed();
  const content = array.subarray(1, -1);
  let start = 0;
  let depth = 0;
  for (let at = 0; at < content.length; at++) {
    if (at - start > maxItemBytes) {
      yield content.subarray(start, at);
      return;
    }
    const byte = content[at];
    if (byte === quote) at = endOfString(content, at, start + maxItemBytes);
    else if (byte === openBracket || byte === openBrace) depth++;
    else if (byte === closeBracket || byte === closeBrace) depth--;
    else if (byte === comma && depth === 0) {
      yield content.subarray(start, at);
      start = at + 1;
    }
    if (depth < 0) throw malformed();
  }
  const last = content.subarray(start);
  if (start > 0 || !last.every(isSpace)) yield last;
}

interface ItemsOptions<Item extends z.ZodType, Result> {
  item: Item;
  maxItems: number;
  /** Size of the JSON of one item: parsed, text can take twenty times its memory. */
  maxItemBytes: number;
  /** Converts an item to what `parseItems` returns of it. */
  convert(item: z.output<Item>): Result;
}

/** Number of parsed bytes after which other requests get a turn. */
const turnBytes = 262_144;

/**
 * Parses, validates and converts a JSON array item by item, so that at most one item is in memory as objects. Throws
 * BadRequest, and ValidationFailed with the first hundred errors.
 */
export const parseItems = async <Item extends z.ZodType, Result>(
  json: Buffer,
  { item, maxItems, maxItemBytes, convert }: ItemsOptions<Item, Result>,
): Promise<Result[]> => {
  const array = trimmed(json);
  if (array[0] !== openBracket) {
    if (json.length <= maxItemBytes) parseJson(json);
    throw new ValidationFailed({ body: ['must be an array'] });
  }
  const results: Result[] = [];
  const errors: FieldErrors = Object.create(null) as FieldErrors;
  const addItem = (text: Buffer, index: number): void => {
    if (text.length > maxItemBytes)
      throw new ValidationFailed({ [index]: [`must be at most ${maxItemBytes} bytes of JSON`] });
    const { data, error } = item.safeParse(parseJson(text));
    if (error === undefined) results.push(convert(data));
    else {
      const issues = error.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] }));
      collectIssues(errors, issues, 'body');
    }
  };
  let [index, bytes] = [0, 0];
  for (const text of itemsOf(array, maxItemBytes)) {
    if (index === maxItems) throw new ValidationFailed({ body: [`must have at most ${maxItems} items`] });
    // Further items are only counted, because too many items are reported first.
    if (Object.keys(errors).length < maxErrors) addItem(text, index);
    index++;
    bytes += text.length;
    if (bytes < turnBytes) continue;
    bytes = 0;
    await nextTurn();
  }
  if (Object.keys(errors).length > 0) throw new ValidationFailed(errors);
  return results;
};
