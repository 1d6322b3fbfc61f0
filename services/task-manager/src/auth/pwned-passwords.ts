import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';

/** File of leaked passwords opened by `openPwnedPasswords`. */
export type PwnedPasswords = Awaited<ReturnType<typeof openPwnedPasswords>>;

/** Bytes of a line: a hash of 40 digits, optionally followed by a colon and a count. */
const maxLineLength = 64;
const hashDigits = 40;

/** Reads the hash of the first line that starts at the byte `from` or later. Undefined after the last line. */
const readHashAfter = async (file: FileHandle, from: number): Promise<string | undefined> => {
  // Also reads the byte before: a line starts at `from` only if that byte is a line feed.
  const start = Math.max(0, from - 1);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2 * maxLineLength), 0, 2 * maxLineLength, start);
  const text = buffer.toString('latin1', 0, bytesRead);
  const line = from === 0 ? 0 : text.indexOf('\n') + 1;
  const hash = text.slice(line, line + hashDigits).toUpperCase();
  return (from > 0 && line === 0) || hash.length < hashDigits ? undefined : hash;
};

/**
 * Opens a file of passwords known from leaks: SHA-1 hashes in hexadecimal, one per line, in ascending order, as in the download
 * of Have I Been Pwned. A look-up is a binary search, about 30 reads of 128 bytes in a file of 40 GB; nothing leaves the
 * machine. Rejects when the file cannot be read.
 */
export const openPwnedPasswords = async (path: string) => {
  const file = await open(path);
  const { size } = await file.stat();
  return {
    has: async (password: string): Promise<boolean> => {
      const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
      // Ends with `low` at most at the start of the hash's line, and after the start of the line before.
      let [low, high] = [0, size];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const middleHash = await readHashAfter(file, middle);
        if (middleHash === undefined || middleHash >= hash) high = middle;
        else low = middle + 1;
      }
      return (await readHashAfter(file, low)) === hash;
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
};
