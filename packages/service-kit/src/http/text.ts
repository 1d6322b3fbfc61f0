import { z } from 'zod';

/** False for NUL, which PostgreSQL cannot store, and for lone surrogates, which would silently become U+FFFD. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/**
 * False for text with more than 30 combining marks in a row, which no language has: to normalize it would take time by the
 * square of their number, here and in PostgreSQL. Source: UAX #15, Stream-Safe Text Format.
 */
export const isStreamSafe = (value: string): boolean =>
  // Takes each mark at most a few times, which a search for 31 of them would not. The last two become marks by NFKC.
  !(value.match(/[\p{M}\uFF9E\uFF9F]{4,}/gu) ?? []).some((marks) => Array.from(marks).length > 30);

/** A string of `min` to `max` characters that the database returns exactly as it was sent, and can normalize. */
export const text = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine(isStorable, 'must be well-formed Unicode without NUL')
    .refine(isStreamSafe, 'must not have more than 30 combining marks in a row');

/** A point in time in JSON: ISO 8601, UTC, milliseconds. */
export const instant = () => z.iso.datetime({ precision: 3 });
