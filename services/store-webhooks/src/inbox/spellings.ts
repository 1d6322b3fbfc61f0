/** A character of a mail address, all of which are ASCII, as itself, in a form and in JSON. `encode` doubles backslashes. */
const anyEscape = (char: string): string => {
  if (/[a-z\d]/.test(char)) return char;
  const code = char.charCodeAt(0).toString(16).padStart(2, '0');
  return String.raw`(?:[${char}]|%${code}|\\\\u00${code})`;
};

/** What precedes an address; a letter or a dot would make it another one, unless it ends an escape. */
const BEFORE = String.raw`(?:^|[^a-z0-9._+-]|=\+|%[0-9a-f]{2}|\\\\(?:[nrt]|u[0-9a-f]{4}))`;
const AFTER = String.raw`(?![a-z0-9-]|\.[a-z0-9])`;

/** Between digits of a phone number: up to three spaces, brackets, hyphens and the like. */
const SEPARATORS = '(?:%2[0-9a-f]|[^0-9a-z]){0,3}';

/** The same in all ways to write a number, with or without the country. */
const COMPARED_DIGITS = 8;

/**
 * A regular expression of PostgreSQL that finds a mail address or a phone number in a body, as `lower(encode(body, 'escape'))`
 * shows it, however it is spelled and escaped there: with capitals, spaces, in a longer text. Undefined for any other text.
 */
export const spellingsOf = (contact: string): string | undefined => {
  const text = contact.trim().toLowerCase();
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return BEFORE + [...text].map(anyEscape).join('') + AFTER;
  const digits = text.replaceAll(/\D/g, '');
  if (/[a-z@]/.test(text) || digits.length < COMPARED_DIGITS) return undefined;
  return `${digits.slice(-COMPARED_DIGITS).split('').join(SEPARATORS)}(?![0-9])`;
};
