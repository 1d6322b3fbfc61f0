import { z } from 'zod';

/** The notation of amounts: at most 13 digits and two decimals, without signs, exponents or leading zeros. */
export const amount = z
  .string()
  .regex(/^(0|[1-9]\d{0,12})(\.\d{1,2})?$/, 'must be an amount such as 12.50')
  .meta({ examples: ['12.50'] });

/**
 * Converts an amount into minor units. The input must match `amount`: with at most 13 + 2 digits the result is below
 * 2^53, so it is exact.
 */
export const minorUnits = (amount: string): number => {
  const point = amount.indexOf('.');
  if (point === -1) return Number(amount) * 100;
  return Number(amount.slice(0, point) + amount.slice(point + 1).padEnd(2, '0'));
};

/** Formats minor units (as text: their digits) with two decimals. */
export const decimal = (minor: string | bigint | number): string => {
  const digits = String(minor);
  const sign = digits.startsWith('-') ? '-' : '';
  const padded = digits.slice(sign.length).padStart(3, '0');
  return `${sign}${padded.slice(0, -2)}.${padded.slice(-2)}`;
};
