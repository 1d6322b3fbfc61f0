import { z } from 'zod';

/** Control characters: PostgreSQL cannot store NUL, and line ends would forge log lines. */
const control = /\p{Cc}/u;

/** In characters, not in UTF-16 units; they are counted only when the two may differ in the result. */
const lengthOf = (value: string): number => {
  if (value.length <= 255) return value.length;
  return value.length > 510 ? value.length : [...value].length;
};

const isId = (value: string): boolean =>
  value !== '' && lengthOf(value) <= 255 && value.isWellFormed() && !control.test(value);

/** Any id: of players, games, rounds, transactions. Nothing in it is ever interpreted. */
export const id = z
  .string()
  .refine(isId, 'must be 1 to 255 characters, none of them a control character')
  .meta({ minLength: 1, maxLength: 255 });

/** An id that is also a path segment. "." and ".." are none, nor are they between slashes: servers and proxies remove them. */
export const addressableId = id
  .refine(
    (value) => !/(?:^|\/)\.\.?(?:\/|$)/.test(value),
    'must not have "." or ".." between slashes, or be one of them',
  )
  .meta({ minLength: 1, maxLength: 255 });
