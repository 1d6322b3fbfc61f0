import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { captureLog } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { createSpool } from '../src/spool/spool.ts';
import { receiptOf } from './receipt.ts';

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
      (await readdir(folder)).filter((name) => name.endsWith('.spool') || name.endsWith('.damaged')),
    openSpool: () =>
      createSpool({
        folder,
        maxBytes: 1e9,
        log,
        pauseMs: 5,
        store: async (receipts) => {
          if (state.isAway) throw new Error('The database is away.');
          stored.push(...receipts.map(({ entity }) => entity ?? ''));
        },
      }),
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true }),
  };
};

/** Changes a byte of the body that contains `text`, wherever it is in the files of the spool. */
const damage = async (folder: string, text: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const content = await readFile(path);
    const at = content.indexOf(text);
    if (at === -1) continue;
    content[at] = 0;
    await writeFile(path, content);
  }
};

test('a damaged file is put aside for a person, and what stands before the damage arrives', async () => {
  await using made = await makeFolder();
  const spool = made.openSpool();
  await spool.add(receiptOf({ entity: 'a' }));
  await spool.add(receiptOf({ entity: 'b', body: Buffer.from('{"id":"damaged"}') }));
  await spool[Symbol.asyncDispose]();
  const [name = ''] = await made.files();
  await damage(made.folder, 'damaged');
  made.state.isAway = false;
  const next = made.openSpool();
  await next.recover();
  await expect.poll(() => next.active).toBe(false);
  expect(made.stored).toEqual(['a']);
  expect(await made.files()).toEqual([`${name}.damaged`]);
  expect(made.lines.join('')).toContain('damaged');
  await next[Symbol.asyncDispose]();
});

test('a file that is no spool file any more is put aside, and the others are replayed', async () => {
  await using made = await makeFolder();
  const before = made.openSpool();
  await before.add(receiptOf({ entity: 'a' }));
  await before[Symbol.asyncDispose]();
  await writeFile(join(made.folder, '0.spool'), 'x'.repeat(5000));
  made.state.isAway = false;
  const spool = made.openSpool();
  await spool.recover();
  await expect.poll(() => spool.active).toBe(false);
  expect(made.stored).toEqual(['a']);
  expect(await made.files()).toEqual(['0.spool.damaged']);
  await spool[Symbol.asyncDispose]();
});

test('damage in the file of a running process does not keep later events from being replayed', async () => {
  await using made = await makeFolder();
  const spool = made.openSpool();
  await spool.add(receiptOf({ entity: 'a', body: Buffer.from('{"id":"damaged"}') }));
  await damage(made.folder, 'damaged');
  await spool.add(receiptOf({ entity: 'b' }));
  made.state.isAway = false;
  await expect.poll(() => spool.active).toBe(false);
  expect(made.stored.at(-1)).toBe('b');
  await spool[Symbol.asyncDispose]();
});

test('a file that cannot be opened is reported, and the others are replayed', async () => {
  await using made = await makeFolder();
  const before = made.openSpool();
  await before.add(receiptOf({ entity: 'a' }));
  await before[Symbol.asyncDispose]();
  // It is there but cannot be opened, as when the process has too many open files.
  await mkdir(join(made.folder, '0.spool'));
  made.state.isAway = false;
  const spool = made.openSpool();
  await spool.recover();
  expect(made.lines.join('')).toContain('the spool can not be used');
  await expect.poll(() => made.stored).toEqual(['a']);
  await spool[Symbol.asyncDispose]();
});
