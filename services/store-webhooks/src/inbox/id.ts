import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const idBytes = 16;
/** For many ids at once: asking the system for each takes longer than all the rest of making one. */
const random = Buffer.alloc(256 * idBytes);
let used = random.length;
let last = 0;
let sequence = 0;

/** A UUIDv7 that is greater than all that this process made before, also within a millisecond. */
export const nextId = (): string => {
  const now = Date.now();
  if (now > last) [last, sequence] = [now, 0];
  else sequence++;
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  return v7({ msecs: last, seq: sequence, random: random.subarray(used, (used += idBytes)) });
};
