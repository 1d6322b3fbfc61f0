import type { IncomingMessage } from 'node:http';
import { ValidationFailed } from './problem.ts';
import { text } from './text.ts';

/** An entity tag (RFC 9110 section 8.8.3); group 1 is the text between the quotes. */
const tag = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/** The entity tag of a version of a resource, for example `"7"`. */
export const etagOf = (version: string | number): string => `"${version}"`;

/** The versions that a field lists, `'*'`, or undefined when it is neither a list of tags nor `*`. */
const parseTags = (field: string): string[] | '*' | undefined => {
  if (field.trim() === '*') return '*';
  const versions = [...field.matchAll(tag)].map(([, version = '']) => version);
  const rest = field.replaceAll(tag, '');
  return versions.length === 0 || /[^\t ,]/.test(rest) ? undefined : versions;
};

/**
 * Whether If-None-Match names this version, so that 304 is the answer. `*` matches any version; a
 * field that cannot be parsed matches none.
 */
export const isNotModified = ({ headers }: IncomingMessage, version: string | number): boolean => {
  const field = headers['if-none-match'];
  const versions = field === undefined ? undefined : parseTags(field);
  return versions === '*' || versions?.includes(String(version)) === true;
};

const ifMatchFault = 'must be entity tags, such as "3", or *';

/**
 * The versions that If-Match allows for a write; undefined for any (no field, or `*`). The write
 * must compare them inside its transaction and answer 412 otherwise. Throws ValidationFailed when
 * the field cannot be parsed, because ignoring it could overwrite another change.
 *
 * Tags are compared weakly, also here: a CDN that compresses an answer marks its tag `W/`, and a
 * version identifies the state of a resource, not the bytes of one answer.
 */
export const expectedVersions = ({ headers }: IncomingMessage): string[] | undefined => {
  const field = headers['if-match'];
  if (field === undefined) return undefined;
  const versions = parseTags(field);
  if (versions === undefined) throw new ValidationFailed({ 'If-Match': [ifMatchFault] });
  return versions === '*' ? undefined : versions;
};

/** The same as a field of a body. */
export const ifMatchField = () =>
  text(1, 1000).transform((field, context) => {
    const versions = parseTags(field);
    if (versions === undefined) context.addIssue(ifMatchFault);
    return versions === '*' ? undefined : versions;
  });
