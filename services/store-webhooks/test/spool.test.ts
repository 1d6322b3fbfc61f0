import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { captureLog } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { receivedEventOf } from './received-event.ts';

/** Runs each process in its own namespace, where it has the process id 1, as in a container. */
const ownNamespace = ['unshare', '-Urpf', '--kill-child'];
const canUnshare = spawnSync('unshare', ['-Urpf', 'true']).status === 0;

const makeFolder = async () => {
  const parent = await mkdtemp(join(tmpdir(), 'spool-'));
  const folder = join(parent, 'spool');
  return {
    folder,
    /** Makes the database available. */
    databaseUp: () => writeFile(`${folder}.up`, ''),
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true }),
  };
};

interface Options {
  count?: number;
  name?: string;
  namespace?: boolean;
  /** The operation on the file system before which the process is killed. */
  killAt?: number;
}

const startSpool = (
  folder: string,
  { count = 0, name = 'order', namespace = false, killAt }: Options = {},
) => {
  const program = [join(import.meta.dirname, 'spool-process.ts'), folder, String(count), name];
  const hook =
    killAt === undefined ? [] : ['--import', new URL(`spool-kill.ts?at=${killAt}`, import.meta.url).href];
  const [command = '', ...args] = [
    ...(namespace && canUnshare ? ownNamespace : []),
    process.execPath,
    ...hook,
    ...program,
  ];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const idsOf = (event: string) =>
    lines.filter((line) => line.startsWith(`${event} `)).map((line) => line.slice(event.length + 1));
  return {
    lines,
    exited,
    acknowledged: () => idsOf('acknowledged'),
    stored: () => idsOf('stored'),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
};

const until = (condition: () => boolean) => expect.poll(condition).toBe(true);

test('two processes that share a folder and a process id lose no acknowledged event', async () => {
  await using shared = await makeFolder();
  using first = startSpool(shared.folder, { count: 100_000, name: 'first', namespace: true });
  await until(() => first.acknowledged().length > 20);
  using second = startSpool(shared.folder, { count: 100_000, name: 'second', namespace: true });
  await until(() => second.acknowledged().length > 20);
  const before = first.acknowledged().length;
  await until(() => first.acknowledged().length > before + 20);
  await first.kill();
  await shared.databaseUp();
  const acknowledged = [...first.acknowledged(), ...second.acknowledged()];
  const missing = () => acknowledged.filter((id) => !second.stored().includes(id));
  await expect.poll(missing).toEqual([]);
});

test('a running process takes over the spool of a killed one, even if another process has its id', async () => {
  await using shared = await makeFolder();
  // In a new namespace both have the same process id.
  using running = startSpool(shared.folder, { count: 100_000, name: 'running', namespace: true });
  await until(() => running.lines.includes('ready'));
  using killed = startSpool(shared.folder, { count: 100_000, name: 'killed', namespace: true });
  await until(() => killed.acknowledged().length > 20);
  await killed.kill();
  await shared.databaseUp();
  const missing = () => killed.acknowledged().filter((id) => !running.stored().includes(id));
  await expect.poll(missing).toEqual([]);
});

test('of several starting processes only one takes over an abandoned folder, and all can store events', async () => {
  await using shared = await makeFolder();
  using killed = startSpool(shared.folder, { count: 100_000, name: 'killed' });
  await until(() => killed.acknowledged().length > 20);
  await killed.kill();
  const started = [1, 2, 3, 4].map((at) => startSpool(shared.folder, { count: 20, name: `next${at}` }));
  await until(() => started.every(({ acknowledged }) => acknowledged().length === 20));
  await shared.databaseUp();
  expect(await Promise.all(started.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);
  const stored = started.flatMap((process) => process.stored());
  for (const id of killed.acknowledged()) expect(stored.filter((storedId) => storedId === id)).toEqual([id]);
  for (const next of started) expect(next.stored()).toEqual(expect.arrayContaining(next.acknowledged()));
});

test(
  'a process that is killed at any step loses no acknowledged event and leaves no file',
  // Starts some eighty processes.
  { timeout: 1_200_000 },
  async () => {
    await using before = await makeFolder();
    using abandoned = startSpool(before.folder, { count: 100_000, name: 'left' });
    await until(() => abandoned.acknowledged().length > 2);
    await abandoned.kill();
    for (let killAt = 1, isFinished = false; !isFinished; killAt++) {
      await using shared = await makeFolder();
      await cp(before.folder, shared.folder, { recursive: true });
      // Adds its own events, then replays them and those of the first process.
      using killed = startSpool(shared.folder, { count: 3, name: 'killed', killAt });
      await Promise.race([until(() => killed.acknowledged().length === 3), killed.exited]);
      await shared.databaseUp();
      isFinished = (await killed.exited) === 0;
      using last = startSpool(shared.folder);
      expect(await last.exited).toBe(0);
      const stored = new Set([...killed.stored(), ...last.stored()]);
      for (const id of [...abandoned.acknowledged(), ...killed.acknowledged()])
        expect([killAt, id, stored.has(id)]).toEqual([killAt, id, true]);
      const names = await readdir(shared.folder, { recursive: true });
      expect([killAt, names.filter((name) => name.endsWith('.spool'))]).toEqual([killAt, []]);
      // The folder of the last process, which the next one removes, and its lock.
      expect(names).toHaveLength(2);
    }
  },
);

const maxBytes = 300_000;

test('the events of one store leave room in the spool for other stores, and a replay frees all of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'spool-'));
  let isDown = true;
  const spool = createSpool({
    folder,
    maxBytes,
    log: captureLog().log,
    pauseMs: 5,
    store: async () => {
      if (isDown) throw new Error('The database is unavailable.');
    },
  });
  /** Adds events of a store until one is refused. Returns the number of bytes that were added. */
  const fillWithEventsOf = async (store: string): Promise<number> => {
    const before = spool.bytes;
    const event = receivedEventOf({
      storeId: `01980000-0000-7000-8000-00000000000${store}`,
      body: Buffer.alloc(5000),
    });
    let refusal: unknown;
    while (refusal === undefined) await spool.add(event).catch((error: unknown) => (refusal = error));
    expect(refusal).toMatchObject({ status: 503, code: 'spool_full' });
    return spool.bytes - before;
  };
  const first = await fillWithEventsOf('1');
  expect(first).toBeGreaterThan(maxBytes / 2);
  const others = [await fillWithEventsOf('2'), await fillWithEventsOf('3')];
  expect(Math.min(...others)).toBeGreaterThan(10_000);
  expect(spool.bytes).toBeLessThanOrEqual(maxBytes);
  isDown = false;
  await expect.poll(() => spool.active).toBe(false);
  isDown = true;
  expect(await fillWithEventsOf('1')).toBe(first);
  await spool[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
