import { mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { captureLog } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { receivedEventOf } from './received-event.ts';

/** A folder, and spools in it whose database is available or not. */
const makeFolder = async () => {
  const parent = await mkdtemp(join(tmpdir(), 'spool-'));
  const folder = join(parent, 'spool');
  const { log, lines } = captureLog();
  const stored: string[] = [];
  const state = { isAway: true };
  return {
    folder,
    lines,
    stored,
    state,
    files: async () =>
      (await readdir(folder, { recursive: true })).filter((name) => name.includes('.spool')).map(String),
    openSpool: (pauseMs = 5) =>
      createSpool({
        folder,
        maxBytes: 1e9,
        log,
        pauseMs,
        store: async (events) => {
          if (state.isAway) throw new Error('The database is unavailable.');
          stored.push(...events.map(({ entity }) => entity ?? ''));
        },
      }),
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true }),
  };
};

const write = async (path: string, at: number, bytes: number[]): Promise<void> => {
  const file = await open(path, 'r+');
  await file.write(Buffer.from(bytes), 0, bytes.length, at);
  await file.close();
};

test('a damaged file is put aside for a person, and what stands before the damage arrives', async () => {
  await using made = await makeFolder();
  const spool = made.openSpool();
  await spool.add(receivedEventOf({ entity: 'a' }));
  const { bytes } = spool;
  await spool[Symbol.asyncDispose]();
  const [name = ''] = await made.files();
  await write(join(made.folder, name), bytes, [0, 0, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8]);
  made.state.isAway = false;
  const next = made.openSpool();
  await next.recover();
  await expect.poll(() => next.active).toBe(false);
  expect(made.stored).toEqual(['a']);
  expect(await made.files()).toEqual([`${basename(name)}.damaged`]);
  expect(made.lines.join('')).toContain('damaged');
  expect(await next.damagedFiles()).toBe(1);
  await next[Symbol.asyncDispose]();
});

test.each([
  ['content', 40],
  ['length', 0],
])(
  'a damaged %s in the file of a running process does not keep later events from being replayed',
  async (_, at) => {
    await using made = await makeFolder();
    const spool = made.openSpool();
    await spool.add(receivedEventOf({ entity: 'a' }));
    const [name = ''] = await made.files();
    await write(join(made.folder, name), at, [0x7f]);
    await expect.poll(made.files).toEqual([`${basename(name)}.damaged`]);
    await spool.add(receivedEventOf({ entity: 'b' }));
    made.state.isAway = false;
    await expect.poll(() => spool.active).toBe(false);
    expect(made.stored).toEqual(['b']);
    await spool[Symbol.asyncDispose]();
  },
);

test('a folder whose lock cannot be opened is reported, and the others are replayed', async () => {
  await using made = await makeFolder();
  const before = made.openSpool();
  await before.add(receivedEventOf({ entity: 'a' }));
  await before[Symbol.asyncDispose]();
  // A lock file that is there but cannot be opened, as when the process has too many open files.
  await mkdir(join(made.folder, '0', 'lock'), { recursive: true });
  await writeFile(join(made.folder, '0', '0.spool'), '');
  made.state.isAway = false;
  const spool = made.openSpool();
  await spool.recover();
  expect(made.lines.join('')).toContain('the spool cannot be used');
  await expect.poll(() => made.stored).toEqual(['a']);
  await spool[Symbol.asyncDispose]();
});

test('a process that ends stores what is in its spool, because its replica may be removed with it', async () => {
  await using made = await makeFolder();
  // Too long to be what the test waits for.
  const spool = made.openSpool(600_000);
  await spool.add(receivedEventOf({ entity: 'a' }));
  made.state.isAway = false;
  await spool[Symbol.asyncDispose]();
  expect(made.stored).toEqual(['a']);
  expect(await made.files()).toEqual([]);
});

test('a process that ends while the database is away keeps its spool for the next one', async () => {
  await using made = await makeFolder();
  const spool = made.openSpool(600_000);
  await spool.add(receivedEventOf({ entity: 'a' }));
  await spool[Symbol.asyncDispose]();
  expect(made.stored).toEqual([]);
  expect(await made.files()).toHaveLength(1);
});
