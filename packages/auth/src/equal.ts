import { timingSafeEqual } from 'node:crypto';

/** Compares two strings in constant time, except that different lengths return at once. */
export const equal = (left: string, right: string): boolean => {
  const [leftBytes, rightBytes] = [Buffer.from(left), Buffer.from(right)];
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
};
