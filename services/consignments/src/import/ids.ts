import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

/**
 * So many UUIDs of one moment, each greater than the one before it. The randomness of all is asked for at once:
 * one by one it takes longer than reading the lines.
 */
export const idsOf = (count: number, now: Date): string[] => {
  const random = randomBytes(16 * (count + 1));
  // Half of what its 32 bits can hold is left to count in.
  const first = random.readUInt32BE(16 * count) >>> 1;
  return Array.from({ length: count }, (_, place) =>
    v7({ random: random.subarray(16 * place, 16 * (place + 1)), msecs: now.getTime(), seq: first + place }),
  );
};
