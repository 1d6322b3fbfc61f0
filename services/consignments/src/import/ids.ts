import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

/**
 * Gives UUIDs by the batch, each greater than all before it. The randomness of a batch is asked for at once: one
 * by one it takes longer than reading the lines.
 */
export const createIds = (): ((count: number, now: Date) => string[]) => {
  let msecs = Number.NEGATIVE_INFINITY;
  let next = 0;
  return (count, now) => {
    const random = randomBytes(16 * (count + 1));
    if (now.getTime() > msecs) {
      msecs = now.getTime();
      // Half of what its 32 bits can hold is left to count in.
      next = random.readUInt32BE(16 * count) >>> 1;
    }
    return Array.from({ length: count }, (_, place) =>
      v7({ random: random.subarray(16 * place, 16 * (place + 1)), msecs, seq: next++ }),
    );
  };
};
