import { timingSafeEqual } from 'node:crypto';

/** Compares two strings in constant time, except that different lengths return at once. */
export const equal = (one: string, two: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(two)];
  return left.length === right.length && timingSafeEqual(left, right);
};
