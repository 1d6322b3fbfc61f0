import { mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { captureLog } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { receivedEventOf } from './received-event.ts';

/** Creates a folder for spools whose database is unavailable while `isDown`. */
const createFixture = async () => {
  const parent = await mkdtemp(join(tmpdir(), 'spool-'));
  const folder = join(parent, 'spool');
  const { log, lines } = captureLog();
  const stored: string[] = [];
  const state = { isDown: true };
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
          if (state.isDown) throw new Error('The database is unavailable.');
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

test('a damaged file is kept for an operator, and the events before the damage are stored', async () => {
  await using fixture = await createFixture();
  const spool = fixture.openSpool();
  await spool.add(receivedEventOf({ entity: 'a' }));
  const { bytes } = spool;
  await spool[Symbol.asyncDispose]();
  const [name = ''] = await fixture.files();
  await write(join(fixture.folder, name), bytes, [0, 0, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8]);
  fixture.state.isDown = false;
  const next = fixture.openSpool();
  await next.recover();
  await expect.poll(() => next.active).toBe(false);
  expect(fixture.stored).toEqual(['a']);
  expect(await fixture.files()).toEqual([`${basename(name)}.damaged`]);
  expect(fixture.lines.join('')).toContain('damaged');
  expect(await next.damagedFiles()).toBe(1);
  await next[Symbol.asyncDispose]();
});

test.each([
  ['content', 40],
  ['length', 0],
])(
  'a damaged %s in the file of a running process does not prevent the replay of later events',
  async (_, at) => {
    await using fixture = await createFixture();
    const spool = fixture.openSpool();
    await spool.add(receivedEventOf({ entity: 'a' }));
    const [name = ''] = await fixture.files();
    await write(join(fixture.folder, name), at, [0x7f]);
    await expect.poll(fixture.files).toEqual([`${basename(name)}.damaged`]);
    await spool.add(receivedEventOf({ entity: 'b' }));
    fixture.state.isDown = false;
    await expect.poll(() => spool.active).toBe(false);
    expect(fixture.stored).toEqual(['b']);
    await spool[Symbol.asyncDispose]();
  },
);

test('a folder whose lock cannot be opened is reported, and the others are replayed', async () => {
  await using fixture = await createFixture();
  const before = fixture.openSpool();
  await before.add(receivedEventOf({ entity: 'a' }));
  await before[Symbol.asyncDispose]();
  // A lock file that exists but cannot be opened, as if the process had too many open files.
  await mkdir(join(fixture.folder, '0', 'lock'), { recursive: true });
  await writeFile(join(fixture.folder, '0', '0.spool'), '');
  fixture.state.isDown = false;
  const spool = fixture.openSpool();
  await spool.recover();
  expect(fixture.lines.join('')).toContain('the spool cannot be used');
  await expect.poll(() => fixture.stored).toEqual(['a']);
  await spool[Symbol.asyncDispose]();
});

test('a stopping process stores the events of its spool, because its volume may be removed', async () => {
  await using fixture = await createFixture();
  // A long pause, so that only the disposal can store the events.
  const spool = fixture.openSpool(600_000);
  await spool.add(receivedEventOf({ entity: 'a' }));
  fixture.state.isDown = false;
  await spool[Symbol.asyncDispose]();
  expect(fixture.stored).toEqual(['a']);
  expect(await fixture.files()).toEqual([]);
});

test('a process that stops while the database is down keeps its spool for the next one', async () => {
  await using fixture = await createFixture();
  const spool = fixture.openSpool(600_000);
  await spool.add(receivedEventOf({ entity: 'a' }));
  await spool[Symbol.asyncDispose]();
  expect(fixture.stored).toEqual([]);
  expect(await fixture.files()).toHaveLength(1);
});
