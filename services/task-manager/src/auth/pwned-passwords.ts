import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';

/** What `openPwnedPasswords` opens. */
export type PwnedPasswords = Awaited<ReturnType<typeof openPwnedPasswords>>;

/** A line has a hash of 40 digits, and perhaps a colon and a number. */
const maxLine = 64;
const hashDigits = 40;

/** The hash of the first line that begins at `from` or later; undefined behind the last one. */
const nextLine = async (file: FileHandle, from: number): Promise<string | undefined> => {
  // Of the line before, only its end shows where this one begins.
  const start = Math.max(0, from - 1);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2 * maxLine), 0, 2 * maxLine, start);
  const text = buffer.toString('latin1', 0, bytesRead);
  const line = from === 0 ? 0 : text.indexOf('\n') + 1;
  const hash = text.slice(line, line + hashDigits).toUpperCase();
  return (from > 0 && line === 0) || hash.length < hashDigits ? undefined : hash;
};

/**
 * Passwords that are known from leaks, in a file of SHA-1 hashes in hexadecimal, one in a line, in ascending order: the
 * form in which Have I Been Pwned gives them. A look-up is a binary search, some 30 reads of 128 bytes in a file of 40 GB;
 * nothing leaves the machine. Rejects when the file cannot be read.
 */
export const openPwnedPasswords = async (path: string) => {
  const file = await open(path);
  const { size } = await file.stat();
  return {
    has: async (password: string): Promise<boolean> => {
      const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
      // The line of the hash, if it is there, is the first that begins at `low` or later, when both meet.
      let [low, high] = [0, size];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const found = await nextLine(file, middle);
        if (found === undefined || found >= hash) high = middle;
        else low = middle + 1;
      }
      return (await nextLine(file, low)) === hash;
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
};
