import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

/**
 * Creates batches of UUIDs, each greater than all before it. Reads the random bytes of a batch at once: one read
 * for each id would take longer than parsing the lines.
 */
export const createIds = (): ((count: number, now: Date) => string[]) => {
  let msecs = Number.NEGATIVE_INFINITY;
  let next = 0;
  return (count, now) => {
    const random = randomBytes(16 * (count + 1));
    if (now.getTime() > msecs) {
      msecs = now.getTime();
      // The counter starts in the lower half of its 32 bits, so that it cannot overflow.
      next = random.readUInt32BE(16 * count) >>> 1;
    }
    return Array.from({ length: count }, (_, index) =>
      v7({ random: random.subarray(16 * index, 16 * (index + 1)), msecs, seq: next++ }),
    );
  };
};
