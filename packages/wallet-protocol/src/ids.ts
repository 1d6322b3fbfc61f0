import { z } from 'zod';

/** Control characters are forbidden: PostgreSQL cannot store NUL, and line ends would forge log lines. */
const control = /\p{Cc}/u;

/** Length in characters, not in UTF-16 units; counts them only when the difference can matter for the limit of 255. */
const lengthOf = (value: string): number => {
  if (value.length <= 255) return value.length;
  return value.length > 510 ? value.length : [...value].length;
};

const isId = (value: string): boolean =>
  value !== '' && lengthOf(value) <= 255 && value.isWellFormed() && !control.test(value);

/** An id of a player, game, round or transaction: opaque text. */
export const id = z
  .string()
  .refine(isId, 'must be 1 to 255 characters, none of them a control character')
  .meta({ minLength: 1, maxLength: 255 });

/** An id that is also a path segment. Servers and proxies remove the segments "." and "..", so these are not allowed. */
export const addressableId = id
  .refine(
    (value) => !/(?:^|\/)\.\.?(?:\/|$)/.test(value),
    'must not be "." or "..", or contain one of them between slashes',
  )
  .meta({ minLength: 1, maxLength: 255 });
