import { isStorable, isStreamSafe } from '@platform/service-kit/text';
import { z } from 'zod';

const decimal = /^(?:0|-?[1-9]\d*)$/;
const [int32Min, int32Max] = [-2_147_483_648, 2_147_483_647];

/** A filter on an int32. A value that no record can have is valid and finds nothing. */
export const int32Filter = (description: string) =>
  z
    .string()
    .transform((text, context) => {
      const value = Number(text);
      if (!decimal.test(text)) context.addIssue('must be one plain decimal number, such as 1');
      else if (value < int32Min || value > int32Max) context.addIssue('must fit a 32-bit integer');
      return value;
    })
    .optional()
    // The OpenAPI document describes the number, not the string in the query.
    .meta({ description, type: 'integer', format: 'int32' });

export const uuidFilter = (description: string) =>
  z.guid('must be a UUID').toLowerCase().optional().meta({ description });

/** A filter on exactly this text. */
export const textFilter = (description: string) =>
  z.string().min(1).max(200).refine(isStorable, 'must not contain NUL').optional().meta({ description });

/** Counts code points, not UTF-16 units. */
const isSearchable = (text: string): boolean => text !== '' && Array.from(text).length <= 200;

/** A note for SearchText of lists that may be too long to search for a short text. */
export const shortTextLimit =
  ' A text without three letters from a to z or digits in a row returns 400, unless the list, or the records that match one of the other filters, are at most 2,000,000.';

/** `note` is added to the description. Source: docs/consignments.md. */
export const searchText = (columns: string, note = '') =>
  z
    .string()
    .refine((text) => !/\p{Cc}/u.test(text), { error: 'must not contain control characters', abort: true })
    .refine(isStreamSafe, 'must not have more than 30 combining marks in a row')
    .trim()
    .refine(isSearchable, 'must have 1 to 200 characters, spaces at both ends not counted')
    .optional()
    .meta({
      description: `Text that must occur in ${columns}, in upper or lower case. No character is a wildcard.${note}`,
      minLength: 1,
      maxLength: 200,
    });
