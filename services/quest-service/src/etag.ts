import type { IncomingMessage } from 'node:http';

/** The entity tag of everything that a quest's version names (RFC 9110 section 8.8.3). */
export const etagOf = (version: string): string => `"${version}"`;

/**
 * The versions that an If-Match or If-None-Match field lists, `'*'` for any, undefined without the
 * field. `W/` is looked past: a gateway that compresses an answer marks its tag so, and a version
 * names a state of the quest, not the bytes of one answer.
 */
const versionsIn = (field: string | undefined): string[] | '*' | undefined => {
  if (field === undefined) return undefined;
  if (field.trim() === '*') return '*';
  return field.split(',').map((tag) => tag.trim().replace(/^(?:W\/)?"(.*)"$/, '$1'));
};

/** Versions one of which the quest must have for a write to happen; undefined for any. */
export const expectedVersions = (req: IncomingMessage): string[] | undefined => {
  const versions = versionsIn(req.headers['if-match']);
  return versions === '*' ? undefined : versions;
};

/** Whether the caller already holds this version, so that 304 says enough. */
export const isHeld = (req: IncomingMessage, version: string): boolean => {
  const versions = versionsIn(req.headers['if-none-match']);
  return versions === '*' || versions?.includes(version) === true;
};

/** May be kept, but every use asks whether it still holds. */
export const revalidated = (version: string) => ({ ETag: etagOf(version), 'Cache-Control': 'no-cache' });
