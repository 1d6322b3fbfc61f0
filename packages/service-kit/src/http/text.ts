import { z } from 'zod';

/** False if text contains NUL, which PostgreSQL cannot store, or lone surrogates, which would silently become U+FFFD. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/**
 * False if text has more than 30 combining marks in a row. No language has so many, and the time to normalize them grows with
 * the square of their number, here and in PostgreSQL. Source: UAX #15, Stream-Safe Text Format.
 */
export const isStreamSafe = (value: string): boolean =>
  // Linear: it reads each mark only a few times, unlike a search for 31 marks. NFKC turns the last two characters into marks.
  !(value.match(/[\p{M}\uFF9E\uFF9F]{4,}/gu) ?? []).some((marks) => Array.from(marks).length > 30);

/** Shortens sequences of more than 30 combining marks to 30 (see `isStreamSafe`). */
export const withFewMarks = (value: string): string =>
  isStreamSafe(value)
    ? value
    : value.replaceAll(/[\p{M}\uFF9E\uFF9F]{4,}/gu, (marks) => Array.from(marks).slice(0, 30).join(''));

/** A string of `min` to `max` characters that PostgreSQL stores unchanged and can normalize in linear time. */
export const text = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine(isStorable, 'must be well-formed Unicode without NUL')
    .refine(isStreamSafe, 'must not have more than 30 combining marks in a row');

/** A point in time in JSON: ISO 8601, UTC, milliseconds. */
export const instant = () => z.iso.datetime({ precision: 3 });
