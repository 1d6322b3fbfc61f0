import { z } from 'zod';

/** PostgreSQL can't store NUL, and a lone surrogate would silently become U+FFFD: both are refused. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/** A string of `min` to `max` characters that the database gives back exactly as it was sent. */
export const text = (min: number, max: number) =>
  z.string().min(min).max(max).refine(isStorable, 'must be well-formed Unicode without NUL');

/** An instant as the wire has it: ISO 8601, UTC, milliseconds. */
export const instant = () => z.iso.datetime({ precision: 3 });
