import { z } from 'zod';

/** False for NUL, which PostgreSQL cannot store, and for lone surrogates, which would silently become U+FFFD. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/** A string of `min` to `max` characters that the database returns exactly as it was sent. */
export const text = (min: number, max: number) =>
  z.string().min(min).max(max).refine(isStorable, 'must be well-formed Unicode without NUL');

/** A point in time in JSON: ISO 8601, UTC, milliseconds. */
export const instant = () => z.iso.datetime({ precision: 3 });
