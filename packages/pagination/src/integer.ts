import { z } from 'zod';

export interface IntegerRange {
  min: number;
  max: number;
  /** The value of an absent parameter. */
  fallback: number;
  description: string;
  /** Documented for a number that callers read as an int32. */
  format?: 'int32';
}

export const int32Max = 2_147_483_647;

const plain = /^(?:0|[1-9]\d*)$/;

/** How the OpenAPI document describes the parameter: as a number, or as the string that is read as an int32. */
const documented = ({ min, max, fallback, format }: IntegerRange, pattern?: RegExp) =>
  pattern === undefined
    ? { type: 'integer', ...(format && { format }), minimum: min, maximum: max, default: fallback }
    : {
        type: 'string',
        pattern: pattern.source,
        format: 'int32',
        minimum: min,
        ...(max === int32Max ? {} : { maximum: max }),
        default: String(fallback),
      };

/**
 * A query parameter that is a whole number in plain decimal digits: `01`, `+1`, `1.0`, ` 1`, `1e2` and
 * the empty string are refused rather than guessed at. `pattern` widens the form (never the range) and makes the
 * document describe the parameter as a string with this pattern.
 */
export const integerParameter = (range: IntegerRange, pattern?: RegExp) =>
  z
    .string()
    .transform((written, context) => {
      const value = Number(written);
      if (!(pattern ?? plain).test(written)) context.addIssue('must be a plain decimal number, such as 1');
      else if (value < range.min || value > range.max)
        context.addIssue(`must be from ${range.min} to ${range.max}`);
      // The pattern accepts `-0`, which equals 0 but is printed and compared differently.
      return value === 0 ? 0 : value;
    })
    .default(range.fallback)
    .meta({ description: range.description, ...documented(range, pattern) });
