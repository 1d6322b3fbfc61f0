import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const idBytes = 16;
/** Random bytes for many ids: one system call per id would take longer than the rest of creating it. */
const random = Buffer.alloc(256 * idBytes);
let used = random.length;

const nextRandom = (): Buffer => {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  return random.subarray(used, (used += idBytes));
};

/** Returns a UUIDv7 for the time `now`, in milliseconds. */
export type NextId = (now: number) => string;

/** Makes ids each of which is greater than all earlier ones, also while the clock stands still or goes back. */
export const createIds = (): NextId => {
  let last = 0;
  let sequence = 0;
  return (now) => {
    if (now > last) [last, sequence] = [now, 0];
    else sequence++;
    return v7({ msecs: last, seq: sequence, random: nextRandom() });
  };
};

/** The smallest UUIDv7 of a point in time; smaller ids were created earlier. */
export const firstIdOf = (at: Date): string => {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};
