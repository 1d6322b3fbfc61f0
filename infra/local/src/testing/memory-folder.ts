import { statfs } from 'node:fs/promises';

/** Files there are in memory on Linux: a database is cloned in a tenth of the processor time, and nothing waits for a disk. */
const IN_MEMORY = '/dev/shm';
/** All databases that test files have at a time need less than a quarter of it. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/** The folder for data that end with a test: in memory where there is plenty, else undefined, that of temporary files. */
export const memoryFolder = async (): Promise<string | undefined> => {
  const room = await statfs(IN_MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return Math.min(room, process.availableMemory()) < ENOUGH_BYTES ? undefined : IN_MEMORY;
};
