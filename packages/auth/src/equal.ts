import { timingSafeEqual } from 'node:crypto';

/** Compares two texts in a time that depends on their length alone. */
export const equal = (one: string, two: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(two)];
  return left.length === right.length && timingSafeEqual(left, right);
};
