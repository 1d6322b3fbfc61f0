import { z } from 'zod';

export interface IntegerRange {
  min: number;
  max: number;
  /** What an absent parameter means. */
  fallback: number;
  description: string;
  /** What callers of this interface read it as, where that is said. */
  format?: 'int32';
}

const plain = /^(?:0|[1-9]\d*)$/;

/**
 * A query parameter that is a whole number in plain decimal digits: `01`, `+1`, `1.0`, ` 1`, `1e2` and
 * the empty string are refused rather than guessed at. `pattern` widens the form (never the range).
 */
export const integerParameter = (
  { min, max, fallback, description, format }: IntegerRange,
  pattern?: RegExp,
) =>
  z
    .string()
    .transform((written, context) => {
      const value = Number(written);
      if (!(pattern ?? plain).test(written)) context.addIssue('must be a plain decimal number, such as 1');
      else if (value < min || value > max) context.addIssue(`must be from ${min} to ${max}`);
      // The pattern lets `-0` through, which equals 0 but is printed and compared differently.
      return value === 0 ? 0 : value;
    })
    .default(fallback)
    // What the caller reads in the OpenAPI document: the number, not the string it travels as.
    .meta({
      description,
      type: 'integer',
      ...(format ? { format } : {}),
      minimum: min,
      maximum: max,
      default: fallback,
      ...(pattern ? { pattern: pattern.source } : {}),
    });

export const int32Max = 2_147_483_647;
