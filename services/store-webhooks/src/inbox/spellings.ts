/** A character of a mail address, all of which are ASCII, as itself, in a form and in JSON. `encode` doubles backslashes. */
const anyEscape = (char: string): string => {
  if (/[a-z\d]/.test(char)) return char;
  const code = char.charCodeAt(0).toString(16).padStart(2, '0');
  return String.raw`(?:[${char}]|%${code}|\\\\u00${code})`;
};

/** What may stand before an address. A letter or a dot there makes it a longer, other address, unless it ends an escape. */
const BEFORE = String.raw`(?:^|[^a-z0-9._+-]|=\+|%[0-9a-f]{2}|\\\\(?:[nrt]|u[0-9a-f]{4}))`;
const AFTER = String.raw`(?![a-z0-9-]|\.[a-z0-9])`;

/** Between the digits of a phone number. Not what separates the digits of times and lists. */
const SEPARATORS = String.raw`(?:[ ()./+-]|\\\\/|%2[0-9bdef]){0,3}`;
const NUMBER_BEFORE = String.raw`(?:^|[^0-9a-z]|%2[0-9a-f]|\\\\u00[0-9a-f]{2})`;
const PLUS = String.raw`(?:[+]|%2b|\\\\u002b|00)`;
const COUNTRY = `[1-9]${SEPARATORS}(?:[0-9]${SEPARATORS}){0,2}`;

/** Other numbers are not searched: they also occur as something else, or are placeholders such as 00000000 and 12345678. */
const MIN_DIGITS = 8;
const MIN_DIFFERENT = 4;
const PLACEHOLDERS = '01234567890 9876543210';

const identifiesNobody = (digits: string): boolean =>
  digits.length < MIN_DIGITS ||
  new Set(digits.slice(-MIN_DIGITS)).size < MIN_DIFFERENT ||
  PLACEHOLDERS.includes(digits);

const separated = (digits: string): string => digits.split('').join(SEPARATORS);

/** The ways to write a phone number with and without its country, whose code has one to three digits. */
const waysToWrite = (text: string): string[] => {
  const digits = text.replaceAll(/\D/g, '');
  const national = (rest: string): string[] =>
    identifiesNobody(rest) ? [] : [`(?:0${SEPARATORS})?${separated(rest)}`];
  if (/^(?:\+|00)/.test(text)) {
    const number = digits.startsWith('00') ? digits.slice(2) : digits;
    return [`${PLUS}?${separated(number)}`, ...[1, 2, 3].flatMap((code) => national(number.slice(code)))];
  }
  const own = digits.startsWith('0') ? digits.slice(1) : digits;
  return national(own).flatMap((way) => [way, PLUS + COUNTRY + way]);
};

/**
 * A regular expression of PostgreSQL that finds a mail address or a phone number in a body, as `lower(encode(body, 'escape'))`
 * shows it, however it is spelled and escaped there: with capitals, spaces, in a longer text. Undefined for any other text,
 * and for numbers that do not identify a person.
 */
export const spellingsOf = (contact: string): string | undefined => {
  const text = contact.trim().toLowerCase();
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return BEFORE + [...text].map(anyEscape).join('') + AFTER;
  if (/[a-z@]/.test(text) || identifiesNobody(text.replaceAll(/\D/g, ''))) return undefined;
  return `${NUMBER_BEFORE}(?:${waysToWrite(text).join('|')})(?![0-9a-z])`;
};
