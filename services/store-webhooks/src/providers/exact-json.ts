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
