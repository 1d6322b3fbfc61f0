import type { IncomingMessage } from 'node:http';
import { ValidationFailed } from './problem.ts';
import { text } from './text.ts';

/** An entity tag (RFC 9110 section 8.8.3); group 1 is the text between the quotes. */
const tag = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/** The entity tag of a version of a resource, for example `"7"`. */
export const etagOf = (version: string | number): string => `"${version}"`;

/** The versions that a header field lists, or `'*'`. Undefined if the field is neither a list of tags nor `*`. */
const parseTags = (field: string): string[] | '*' | undefined => {
  if (field.trim() === '*') return '*';
  const versions = [...field.matchAll(tag)].map(([, version = '']) => version);
  const separators = field.replaceAll(tag, '');
  return versions.length === 0 || /[^\t ,]/.test(separators) ? undefined : versions;
};

/** Whether If-None-Match lists this version, so that the response is 304. `*` matches any version, an invalid field none. */
export const isNotModified = ({ headers }: IncomingMessage, version: string | number): boolean => {
  const field = headers['if-none-match'];
  const versions = field === undefined ? undefined : parseTags(field);
  return versions === '*' || versions?.includes(String(version)) === true;
};

const ifMatchError = 'must be entity tags, such as "3", or *';

/**
 * The versions that If-Match allows for a write; undefined for any version (no field, or `*`). The write must compare them
 * inside its transaction and return 412 if none matches. Throws ValidationFailed for an invalid field, because ignoring it
 * could overwrite another change.
 *
 * Tags are compared weakly here too: a CDN that compresses a response marks its tag with `W/`, and a version identifies the
 * state of a resource, not the bytes of one response.
 */
export const expectedVersions = ({ headers }: IncomingMessage): string[] | undefined => {
  const field = headers['if-match'];
  if (field === undefined) return undefined;
  const versions = parseTags(field);
  if (versions === undefined) throw new ValidationFailed({ 'If-Match': [ifMatchError] });
  return versions === '*' ? undefined : versions;
};

/** If-Match as a field of a body. */
export const ifMatchField = () =>
  text(1, 1000).transform((field, context) => {
    const versions = parseTags(field);
    if (versions === undefined) context.addIssue(ifMatchError);
    return versions === '*' ? undefined : versions;
  });
