import { readFileSync } from 'node:fs';

const minLength = 8;
const maxLength = 128;
/** NFKC can shorten a text, but not one with more UTF-16 units than this to `maxLength`. */
const maxUnits = maxLength * 8;

/**
 * The 3,000 most common leaked passwords of at least eight characters, in lower case, most common
 * first. Source: SecLists, Passwords/Common-Credentials/10-million-password-list-top-1000000.txt (MIT).
 */
const commonPasswords = new Set(
  readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n'),
);

const substitutes: Record<string, string> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
  // These stand for i and for l, so l counts as i.
  '1': 'i',
  '!': 'i',
  '|': 'i',
  l: 'i',
};

/** The number of digits and signs at the end of a password that are ignored. */
const maxAddition = 4;
/** Shorter rests are not compared: too many passwords begin with them. */
const minCore = 6;

/** A password in lower case without the usual changes: `P@ssw0rd` and `Password1!` are `password`. */
const coreOf = (folded: string): string => {
  let end = folded.length;
  while (end > folded.length - maxAddition && /[^a-z]/.test(folded[end - 1] ?? 'a')) end--;
  return folded.slice(0, end).replaceAll(/[@430$571!|l]/g, (sign) => substitutes[sign] ?? sign);
};

const commonCores = new Set([...commonPasswords].map(coreOf).filter((core) => core.length >= minCore));

/**
 * The form in which a password is hashed: NFKC, so that every keyboard produces the same password.
 * Undefined when it can't be anybody's password: not well-formed Unicode, or far too long.
 */
export const normalizePassword = (password: string): string | undefined =>
  password.length <= maxUnits && password.isWellFormed() ? password.normalize('NFKC') : undefined;

/**
 * The rules that a new password breaks, as messages; empty when it is acceptable. The email address may have any length and
 * is not normalized, because normalizing combining marks takes time by the square of their number; valid ones are ASCII.
 */
export const passwordProblems = (password: string, email: string): string[] => {
  if (!password.isWellFormed()) return ['must be well-formed Unicode'];
  const problems: string[] = [];
  const normal = normalizePassword(password);
  const length = normal === undefined ? Infinity : Array.from(normal).length;
  if (length < minLength) problems.push(`must have at least ${minLength} characters`);
  if (length > maxLength) problems.push(`must have at most ${maxLength} characters`);
  const folded = normal?.toLowerCase();
  if (folded === email.trim().toLowerCase()) problems.push('must not be the email address');
  if (normal?.trim() === '' && length >= minLength) problems.push('must not be blank');
  if (folded !== undefined && (commonPasswords.has(folded) || commonCores.has(coreOf(folded))))
    problems.push('is one of the most common passwords');
  return problems;
};
