import { closeSync, existsSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { logLimits, type LogLimits } from './env.ts';

/** Renames FILE.1 to FILE.2 and FILE to FILE.1, and removes the oldest file. */
const rotate = (path: string, maxFiles: number): void => {
  const nameOf = (age: number): string => (age === 0 ? path : `${path}.${age}`);
  // Removes several files if maxFiles was larger before.
  for (let age = maxFiles - 1; existsSync(nameOf(age)); age += 1) rmSync(nameOf(age));
  for (let age = maxFiles - 2; age >= 0; age -= 1)
    if (existsSync(nameOf(age))) renameSync(nameOf(age), nameOf(age + 1));
};

/** A log that this process writes. */
export interface LogFile {
  write: (chunk: Buffer) => void;
  close: () => void;
}

/**
 * Opens a log to append to it. A file that reaches `maxBytes` is rotated at the end of a line. Output that cannot be
 * written is lost; the log then reports the number of lost bytes.
 */
export const openLogFile = (path: string, { maxBytes, maxFiles }: LogLimits = logLimits()): LogFile => {
  let file = openSync(path, 'a', 0o600);
  let { size } = fstatSync(file);
  const append = (bytes: Buffer): void => {
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
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
  let lostBytes = 0;
  return {
    write: (chunk) => {
      try {
        if (lostBytes > 0)
          append(Buffer.from(`\n${lostBytes} bytes are missing here: they could not be written\n`));
        lostBytes = 0;
        write(chunk);
      } catch {
        // A full disk must not stop the platform.
        lostBytes += chunk.length;
      }
    },
    close: () => closeSync(file),
  };
};

const CHECK_MS = 1_000;

/**
 * Creates and rotates the logs of a program that writes them itself. `reopen` makes the program reopen them; until then it
 * writes to the renamed file, so that no line is lost. (If the program created the file, other users could read it.)
 */
export const rotateLogs = (paths: readonly string[], reopen: () => void, checkMs = CHECK_MS): Disposable => {
  const { maxBytes, maxFiles } = logLimits();
  for (const path of paths) openLogFile(path).close();
  /** A file is missing if an earlier attempt failed between renaming and creating; it is created now. */
  const needsRotation = (path: string): boolean =>
    (statSync(path, { throwIfNoEntry: false })?.size ?? Infinity) >= maxBytes;
  const rotateFull = (): void => {
    const fullPaths = paths.filter(needsRotation);
    for (const path of fullPaths) {
      if (existsSync(path)) rotate(path, maxFiles);
      openLogFile(path).close();
    }
    if (fullPaths.length > 0) reopen();
  };
  const timer = setInterval(() => {
    try {
      rotateFull();
    } catch {
      // The disk may be full; the next check tries again.
    }
  }, checkMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
};
