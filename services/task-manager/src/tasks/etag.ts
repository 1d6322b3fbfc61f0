import { ValidationFailed } from '@platform/service-kit/problem';

/** An entity tag (RFC 9110 section 8.8.3); group 1 is `W/` on weak ones. */
const tag = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/** The entity tag of a version of a task: strong, because the same version is always the same bytes. */
export const etagOf = (version: number): string => `"${version}"`;

interface Tag {
  weak: boolean;
  version: string | undefined;
}

/** The tags of a header, `'*'`, or undefined when it is neither. */
const tagsOf = (header: string): Tag[] | '*' | undefined => {
  if (header.trim() === '*') return '*';
  const tags = [...header.matchAll(tag)];
  if (tags.length === 0 || /[^\t ,]/.test(header.replaceAll(tag, ''))) return undefined;
  return tags.map(([, weak, version]) => ({ weak: weak !== undefined, version }));
};

/** Whether If-None-Match names this version, weakly compared: then the caller's copy is good. */
export const isKnown = (ifNoneMatch: string | undefined, version: number): boolean => {
  const tags = ifNoneMatch === undefined ? undefined : tagsOf(ifNoneMatch);
  if (tags === undefined) return false;
  return tags === '*' || tags.some((tag) => tag.version === String(version));
};

/**
 * Whether If-Match holds for this version, strongly compared; it does when it was not sent. What is
 * not a list of entity tags is refused: to ignore it would be to overwrite after all.
 */
export const isExpected = (ifMatch: string | undefined, version: number): boolean => {
  if (ifMatch === undefined) return true;
  const tags = tagsOf(ifMatch);
  if (tags === undefined)
    throw new ValidationFailed({ 'If-Match': ['must be entity tags, such as "3", or *'] });
  return tags === '*' || tags.some((tag) => !tag.weak && tag.version === String(version));
};
