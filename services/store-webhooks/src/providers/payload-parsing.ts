import { isUtf8 } from 'node:buffer';
import { countBytes, hasMoreValuesThan, nestsDeeperThan } from '@platform/service-kit/body';
import { isStorable, withFewMarks } from '@platform/service-kit/text';
import { z } from 'zod';
import { Unprocessable } from '../errors.ts';

const maxDepth = 64;
/** Maximum number of values in a body or in an answer of a provider; an order of 300 items with 30 fields each has fewer. */
const maxValues = 10_000;
const maxFormFields = 1_000;

export const isForm = (contentType: string | undefined): boolean =>
  contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false;

/** Without the lookbehind, each position of a run of 15 digits would be tried. */
const hasLongNumber = /(?<!\d)\d{16}/;
/** The start of a string, or a number. */
const stringOrNumber = /"|[-+.\deE]+/g;
const isLongInteger = /^-?[1-9]\d{15,}$/;
const isFieldName = /\s*:/y;

/** The end of the string whose opening quotation mark is before `at`. */
const endOfString = (json: string, at: number): number => {
  let end = at;
  while (end < json.length && json[end] !== '"') end += json[end] === '\\' ? 2 : 1;
  return end + 1;
};

/** Puts the integers above 2^53 of valid JSON in quotes, in one pass. */
const quoteLargeIntegers = (json: string): string => {
  let [quoted, copied] = ['', 0];
  stringOrNumber.lastIndex = 0;
  for (let match; (match = stringOrNumber.exec(json)) !== null;) {
    const [token] = match;
    const end = stringOrNumber.lastIndex;
    if (token === '"') {
      stringOrNumber.lastIndex = endOfString(json, end);
      continue;
    }
    isFieldName.lastIndex = end;
    if (!isLongInteger.test(token) || Number.isSafeInteger(Number(token)) || isFieldName.test(json)) continue;
    quoted += `${json.slice(copied, match.index)}"${token}"`;
    copied = end;
  }
  return quoted + json.slice(copied);
};

/**
 * As JSON.parse, but an integer above 2^53 becomes text, because it may be an id, which must not be rounded. A number
 * with a fraction or an exponent is not an id. Throws SyntaxError.
 */
export const parseExactly = (json: string): unknown => {
  // First, because only JSON has few values here: a megabyte of runs of "e" would cost 100 ms below.
  const value: unknown = JSON.parse(json);
  // Few bodies have numbers of 16 digits. A reviver would be called for each value, which takes a second for a megabyte.
  return hasLongNumber.test(json) ? JSON.parse(quoteLargeIntegers(json)) : value;
};

/** Whether JSON nests so deeply, or has so many values, that parsing it would block other requests. */
export const isTooComplex = (json: Buffer): boolean =>
  nestsDeeperThan(maxDepth, json) || hasMoreValuesThan(maxValues, json);

/** Each value of JSON contains one of these characters or follows one. In a form, JSON is percent-encoded. */
const valueMarks = { json: Buffer.from(',[{'), form: Buffer.from(',[{&%') };
/** Memory of a value in addition to its text, in bytes. */
const bytesPerValue = 100;

/** About the memory that a body takes once it is parsed, in bytes: many small values take ten times as much as their text. */
export const parsedBytes = (body: Buffer, contentType: string | undefined): number =>
  body.length +
  bytesPerValue * countBytes(body, valueMarks[isForm(contentType) ? 'form' : 'json'], maxValues);

/** Parses a body: JSON, or the fields of a form. Undefined if it cannot be parsed or is too complex. Never throws. */
export const readable = (body: Buffer, contentType: string | undefined): unknown => {
  if (!isUtf8(body)) return undefined;
  if (isForm(contentType)) return parseForm(body);
  if (isTooComplex(body)) return undefined;
  try {
    return parseExactly(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

/** Replaces the plus signs of a form by spaces. URLSearchParams creates a string for each of them: 200 ms for a megabyte. */
const withSpaces = (form: Buffer): Buffer => {
  const spaced = Buffer.from(form);
  for (let at = 0; at < spaced.length; at++) if (spaced[at] === 0x2b) spaced[at] = 0x20;
  return spaced;
};

/** The fields of a form. Some senders wrap their JSON in one field `payload`. */
const parseForm = (body: Buffer): unknown => {
  // Some senders send JSON with the content type of a form.
  if (/^\s*[{[]/.test(body.toString('utf8'))) return readable(body, undefined);
  const text = withSpaces(body).toString('utf8');
  if (text.split('&', maxFormFields + 1).length > maxFormFields) return undefined;
  const form = Object.fromEntries(new URLSearchParams(text));
  const { payload, ...others } = form;
  return payload !== undefined && Object.keys(others).length === 0
    ? readable(Buffer.from(payload), undefined)
    : form;
};

/** Makes sure that text can be stored, and removes combining marks that would make searches slow: an event must not fail for them. */
export const storable = (schema: z.ZodString) =>
  schema.refine(isStorable, 'must be storable text').transform(withFewMarks);

export const storableText = (max = 500) => storable(z.string().max(max));

/** An identifier: text, or a number that some installations send; a number above 2^53 is already text (parseExactly). */
export const identifier = () =>
  z.union([z.string().min(1).max(200).refine(isStorable), z.int().transform(String)], {
    error: 'must be an identifier',
  });

/** The years that ISO 8601 writes with four digits; PostgreSQL accepts neither year 0 nor more digits. */
const firstTime = Date.parse('0001-01-01T00:00:00.000Z');
const lastTime = Date.parse('9999-12-31T23:59:59.999Z');

/** Milliseconds since the epoch, until the end of the year 9999. */
export const epoch = () => z.int().min(0).max(lastTime);

/** An ISO 8601 time with an offset, of the years 1 to 9999 in UTC, as milliseconds since the epoch. */
export const isoTime = () =>
  z.iso
    .datetime({ offset: true })
    .transform((time) => Date.parse(time))
    .pipe(z.number().min(firstTime).max(lastTime));

export const location = () => z.object({ lat: z.number(), lng: z.number() });

/** Null and missing fields become null. */
export const orNull = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? null) as z.ZodType<z.output<T> | null, z.input<T> | null>;

/** Validates a payload. Throws Unprocessable that names the invalid paths but not their values. */
export const parsePayload = <T extends z.ZodType>(schema: T, body: unknown): z.output<T> => {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const errors = result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new Unprocessable(`The payload is not valid: ${errors.slice(0, 10).join('; ')}`);
};

/** A field of an unvalidated value; own fields only. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** The value at a path of field names in an unvalidated value. Stops where the value ends, because a mapping may have long paths. */
export const valueAt = (value: unknown, ...names: string[]): unknown => {
  let inner = value;
  for (const name of names) {
    inner = fieldOf(inner, name);
    if (inner === undefined) break;
  }
  return inner;
};

/** The identifier in an unvalidated value; undefined if it is none. */
export const identifierIn = (value: unknown): string | undefined => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' && value.length <= 200 && isStorable(value)
    ? value
    : undefined;
};

/** Whether a value is an object, and not an array. */
const isRecord = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a body is an object without any of these fields; `valueOf` reads a field, by default one of the object itself. */
export const hasNoField = (
  body: unknown,
  fields: readonly string[],
  valueOf: (value: unknown, field: string) => unknown = fieldOf,
): boolean => isRecord(body) && fields.every((field) => valueOf(body, field) === undefined);

/** JSON pointers to fields of one object; `names` are separated by spaces. */
export const pointersTo = (path: string, names: string): string[] =>
  names.split(' ').map((name) => `${path}/${name}`);

/** The names in a JSON pointer (RFC 6901). */
export const namesIn = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

/** An object with these fields. */
export const fieldsOf = <Name extends string, T>(names: readonly Name[], valueOf: (name: Name) => T) =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, T>;
