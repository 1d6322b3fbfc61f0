import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { logLimits } from './env.ts';
import { openLogFile, rotateLogs } from './log-file.ts';
import { launch } from './spawn.ts';
import { temporaryFolder } from './cleanup.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder(undefined);
  path = join(folder.path, 'program.log');
});
afterEach(() => folder.remove());

const setVariable = (name: string, value: string): void => {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
};

/** The content of all files of the log, oldest first. */
const allFiles = async (): Promise<string[]> => {
  const names = await readdir(folder.path);
  const age = (name: string): number => Number(/\d+$/.exec(name)?.[0] ?? 0);
  const sorted = names.toSorted((first, second) => age(second) - age(first));
  return Promise.all(sorted.map((name) => readFile(join(folder.path, name), 'utf8')));
};

test('the log of a running program is rotated at a line end, and no line is lost', async () => {
  setVariable('LOG_MAX_SIZE', '10k');
  setVariable('LOG_MAX_FILES', '99');
  const script = 'for (let line = 0; line < 20000; line++) console.log(`line ${line}`)';
  const { ended } = await launch({
    file: process.execPath,
    args: ['--eval', script],
    cwd: folder.path,
    env: {},
    stopSignal: 'SIGTERM',
    logFile: path,
  });
  expect(await ended).toBe('exited with code 0');
  const files = await allFiles();
  expect(files.length).toBeGreaterThan(2);
  for (const text of files) expect(text === '' || text.endsWith('\n')).toBe(true);
  expect(files.join('')).toBe(Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join(''));
});

test('at most maxFiles files are kept, also after the setting was lowered, and only the owner may read them', async () => {
  for (const maxFiles of [5, 2, 1]) {
    const log = openLogFile(path, { maxBytes: 100, maxFiles });
    for (let line = 0; line < 100; line++) log.write(Buffer.from(`a line of the log ${line}\n`));
    log.close();
    expect(await readdir(folder.path)).toHaveLength(maxFiles);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
});

test('output without a line end is written at once', async () => {
  const log = openLogFile(path, { maxBytes: 10, maxFiles: 2 });
  for (const part of ['0123456789', 'abc', 'def\nrest']) log.write(Buffer.from(part));
  log.close();
  expect(await allFiles()).toEqual(['0123456789abcdef\n', 'rest']);
});

test.runIf(existsSync('/dev/full'))('a full disk stops no program that writes a log', async () => {
  await symlink('/dev/full', path);
  const log = openLogFile(path);
  expect(() => log.write(Buffer.from('lost\n'))).not.toThrow();
  log.close();
});

describe('settings', () => {
  test.each([
    ['500', 500],
    ['500k', 500_000],
    ['20m', 20_000_000],
    ['1g', 1_000_000_000],
  ])('LOG_MAX_SIZE=%s is %i bytes', (size, maxBytes) => {
    setVariable('LOG_MAX_SIZE', size);
    expect(logLimits()).toEqual({ maxBytes, maxFiles: 5 });
  });

  test.each([
    ['LOG_MAX_SIZE', '0'],
    ['LOG_MAX_SIZE', '20 MB'],
    ['LOG_MAX_FILES', '0'],
    ['LOG_MAX_FILES', 'many'],
  ])('the error names the invalid %s=%s', (name, value) => {
    setVariable(name, value);
    expect(logLimits).toThrow(`${name} must be `);
  });
});

test('a log that could not be recreated after renaming is created later, and the program reopens it', async () => {
  let opened = 0;
  using _rotation = rotateLogs([path], () => opened++, 20);
  await rm(path);
  await expect.poll(() => opened).toBe(1);
  expect(existsSync(path)).toBe(true);
  expect(existsSync(`${path}.1`)).toBe(false);
});
