import { closeSync, existsSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { logLimits, type LogLimits } from './env.ts';

/** Makes room for a new file at the path: FILE.1 becomes FILE.2, FILE becomes FILE.1; the oldest is removed. */
const rotate = (path: string, maxFiles: number): void => {
  const nameOf = (age: number): string => (age === 0 ? path : `${path}.${age}`);
  // Several, when the number was larger before.
  for (let age = maxFiles - 1; existsSync(nameOf(age)); age += 1) rmSync(nameOf(age));
  for (let age = maxFiles - 2; age >= 0; age -= 1)
    if (existsSync(nameOf(age))) renameSync(nameOf(age), nameOf(age + 1));
};

/** A log that is written by this process. */
export interface LogFile {
  write: (chunk: Buffer) => void;
  close: () => void;
}

/**
 * Opens a log to append to it. A file that has reached its size is replaced between two lines. What cannot be written is
 * lost, and the log says so.
 */
export const openLogFile = (path: string, { maxBytes, maxFiles }: LogLimits = logLimits()): LogFile => {
  let file = openSync(path, 'a', 0o600);
  let { size } = fstatSync(file);
  const append = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    size += bytes.length;
  };
  const write = (chunk: Buffer): void => {
    const lineEnd = chunk.lastIndexOf('\n') + 1;
    if (size + lineEnd < maxBytes || lineEnd === 0) {
      append(chunk);
      return;
    }
    append(chunk.subarray(0, lineEnd));
    rotate(path, maxFiles);
    const next = openSync(path, 'a', 0o600);
    closeSync(file);
    file = next;
    size = 0;
    append(chunk.subarray(lineEnd));
  };
  let lost = 0;
  return {
    write: (chunk) => {
      try {
        if (lost > 0) append(Buffer.from(`\n${lost} bytes are missing here: they could not be written\n`));
        lost = 0;
        write(chunk);
      } catch {
        // A full disk must not end the platform.
        lost += chunk.length;
      }
    },
    close: () => closeSync(file),
  };
};

const CHECK_MS = 1_000;

/**
 * Creates the logs of a program that writes them itself, and rotates them. `reopen` makes the program open them again; until
 * then it goes on writing to the renamed file, so that nothing is lost. (The program would let others read a new file.)
 */
export const rotateLogs = (paths: readonly string[], reopen: () => void, checkMs = CHECK_MS): Disposable => {
  const { maxBytes, maxFiles } = logLimits();
  for (const path of paths) openLogFile(path).close();
  /** One is missing where an earlier attempt ended between the two steps. */
  const isDue = (path: string): boolean =>
    (statSync(path, { throwIfNoEntry: false })?.size ?? Infinity) >= maxBytes;
  const replaceFull = (): void => {
    const due = paths.filter(isDue);
    for (const path of due) {
      if (existsSync(path)) rotate(path, maxFiles);
      openLogFile(path).close();
    }
    if (due.length > 0) reopen();
  };
  const timer = setInterval(() => {
    try {
      replaceFull();
    } catch {
      // The disk is full; the next time.
    }
  }, checkMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
};
