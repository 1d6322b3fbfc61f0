import { isUtf8 } from 'node:buffer';
import { nestsDeeperThan } from '@platform/service-kit/body';

export const maxBody = 1_048_576;
const maxDepth = 64;

export const isForm = (contentType: string | undefined): boolean =>
  contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false;

/** The context argument of a reviver for a primitive value (JSON.parse source text access, ES2026). */
interface Source {
  source?: string;
}

const isInteger = /^-?\d+$/;

/** The text of an integer that would be another one as a double. */
const exact = (_name: string, value: unknown, { source = '' }: Source): unknown =>
  isInteger.test(source) && !Number.isSafeInteger(value) ? source : value;

/**
 * As JSON.parse, but an integer above 2^53 is the text that was sent: it may be an id, which must not be rounded. A number
 * with a fraction or an exponent is no id. Throws SyntaxError.
 */
export const parseExactly = (json: string): unknown =>
  // A reviver costs a call for each value, and few bodies have numbers of 16 digits.
  /\d{16}/.test(json)
    ? (JSON.parse(json, exact as (name: string, value: unknown) => unknown) as unknown)
    : JSON.parse(json);

/** The content of a body: JSON, or the fields of a form. Undefined if it cannot be parsed. Never throws. */
export const readable = (body: Buffer, contentType: string | undefined): unknown => {
  if (!isUtf8(body)) return undefined;
  if (isForm(contentType)) return fields(body.toString('utf8'));
  if (nestsDeeperThan(maxDepth, body)) return undefined;
  try {
    return parseExactly(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

/** The fields of a form. Some senders wrap their JSON in one field `payload`. */
const fields = (text: string): unknown => {
  // Some senders put JSON into a body that they call a form.
  if (/^\s*[{[]/.test(text)) return readable(Buffer.from(text), undefined);
  const form = Object.fromEntries(new URLSearchParams(text));
  const { payload, ...others } = form;
  return payload !== undefined && Object.keys(others).length === 0
    ? readable(Buffer.from(payload), undefined)
    : form;
};
