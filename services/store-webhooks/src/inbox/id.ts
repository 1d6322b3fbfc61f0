import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const idBytes = 16;
/** Random bytes for many ids: one system call per id would take longer than the rest of creating it. */
const random = Buffer.alloc(256 * idBytes);
let used = random.length;
let last = 0;
let sequence = 0;

/** Returns a UUIDv7 for the time `now` that is greater than all earlier ones of this process. */
export const nextId = (now: number): string => {
  if (now > last) [last, sequence] = [now, 0];
  else sequence++;
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  return v7({ msecs: last, seq: sequence, random: random.subarray(used, (used += idBytes)) });
};
