import { captureLog } from '@platform/service-kit/testing';
import { Registry } from '@prometheus-io/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  countPendingChanges,
  defineDirectory,
  measureDrift,
  rebuild,
  type Directory,
} from '../src/directory/index.ts';
import { maintainDirectories, findDrift } from '../src/maintenance.ts';
import { createLists, type TestLists } from './database.ts';
import { directories, listsSql, owners, risingDirectory } from './lists.ts';

let lists: TestLists;
beforeAll(async () => {
  // The maintenance holds locks while it works.
  lists = await createLists(listsSql, 0);
});
afterAll(() => lists[Symbol.asyncDispose]());

const insert = (rows: number) => lists.sql`
  insert into rising select gen_random_uuid(), now(), ${owners[0] ?? ''}::uuid, 1 from generate_series(1, ${rows}::int)`;

const often = { foldEvery: 50, foldIdle: 50, mergeEvery: 100, checkEvery: 150 };

const start = (maintained: readonly Directory[] = directories, times = often) => {
  const { log, lines } = captureLog();
  const registry = new Registry();
  const maintenance = maintainDirectories({
    databaseUrl: lists.url,
    directories: maintained,
    log,
    registry,
    ...times,
  });
  return { maintenance, lines, metrics: () => registry.metrics() };
};

const expectFolded = () => expect.poll(() => countPendingChanges(lists.sql, risingDirectory)).toBe(0);

it('folds what is written, repairs and logs a difference from the list, and stops when disposed of', async () => {
  const { maintenance, lines, metrics } = start();
  await insert(100);
  await expectFolded();
  await expect.poll(metrics).toContain('directory_drift_rows{list="rising"} 0');
  expect(await metrics()).toContain('directory_pending_changes{list="rising"} 0');

  await lists.sql`
    update rising_directory_buckets set n = n + 3 where ctid = (select min(ctid) from rising_directory_buckets)`;
  await expect.poll(() => lines.join('')).toContain('differs from its list and is rebuilt');
  await expect.poll(() => measureDrift(lists.sql, risingDirectory)).toBe(0);

  await maintenance[Symbol.asyncDispose]();
  await insert(5);
  expect(await countPendingChanges(lists.sql, risingDirectory)).toBe(5);
});

it('only one of several instances checks a list at a time, and the list is rebuilt once', async () => {
  const blocker = lists.connect();
  await blocker`begin`;
  await lists.sql`
    update rising_directory_buckets set n = n + 3 where ctid = (select min(ctid) from rising_directory_buckets)`;
  // Blocks the instance that has found the difference.
  await blocker`select from rising_directory_state for update`;
  const checking = { foldIdle: 3_600_000, foldEvery: 3_600_000, mergeEvery: 3_600_000, checkEvery: 10 };
  const instances = [1, 2, 3].map(() => start([risingDirectory], checking));
  const rebuilds = () =>
    instances.flatMap(({ lines }) => lines.filter((line) => line.includes('is rebuilt')));
  await expect.poll(rebuilds).toHaveLength(1);
  const locks = () => blocker`
    select from pg_locks where locktype = 'advisory' and database = (
      select oid from pg_database where datname = current_database())`;
  expect(await locks()).toHaveLength(1);
  await blocker`commit`;
  await expect.poll(() => measureDrift(lists.sql, risingDirectory)).toBe(0);
  for (const { maintenance } of instances) await maintenance[Symbol.asyncDispose]();
  expect(rebuilds()).toHaveLength(1);
});

it('folds rarely while nobody writes, and at once after a hint', async () => {
  const { maintenance } = start(directories, { ...often, foldIdle: 3_600_000, mergeEvery: 3_600_000 });
  for (const rows of [100, 1, 50]) {
    await insert(rows);
    maintenance.hint();
    await expect.poll(() => countPendingChanges(lists.sql, risingDirectory)).toBe(0);
  }
  await maintenance[Symbol.asyncDispose]();
});

it('folds soon after another instance has stopped merging, although it folds rarely while nobody writes', async () => {
  const { maintenance } = start([risingDirectory], {
    ...often,
    foldIdle: 3_600_000,
    mergeEvery: 3_600_000,
    checkEvery: 3_600_000,
  });
  const merging = lists.connect();
  await merging`begin`;
  await merging`select from rising_directory_state for update`;
  await merging`savepoint before_lock`;
  // Blocks the fold, so that the test sees it start and skip the list.
  await merging`lock table rising_directory_state in exclusive mode`;
  await insert(10);
  maintenance.hint();
  const locksOfFolds = (isGranted: boolean) => merging`
    select from pg_locks where granted = ${isGranted} and pid <> pg_backend_pid()
      and relation = any('{rising,rising_directory_state}'::regclass[])`;
  await expect.poll(() => locksOfFolds(false)).not.toHaveLength(0);
  await merging`rollback to before_lock`;
  await expect.poll(() => locksOfFolds(true)).toHaveLength(0);
  expect(await countPendingChanges(lists.sql, risingDirectory)).toBe(10);
  await merging`commit`;
  await expectFolded();
  await maintenance[Symbol.asyncDispose]();
});

it('logs a failing list once, while the others are maintained', async () => {
  const broken = defineDirectory({ table: 'missing', key: ['changed_at', 'id'] });
  const { maintenance, lines } = start([broken, risingDirectory]);
  await insert(100);
  await expectFolded();
  const failures = () => lines.filter((line) => line.includes('fold changes of missing'));
  await expect.poll(failures).toHaveLength(1);
  await insert(100);
  await expectFolded();
  expect(failures()).toHaveLength(1);
  expect(lines.join('')).not.toContain('rising');
  await maintenance[Symbol.asyncDispose]();
});

it('stops at once although a fold waits for a lock', async () => {
  const blocker = lists.connect();
  await blocker`begin`;
  await blocker`lock table rising_directory_state in access exclusive mode`;
  const { maintenance, lines } = start();
  const waiting = () => blocker`
    select from pg_locks where not granted
      and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(waiting).not.toHaveLength(0);
  await maintenance[Symbol.asyncDispose]();
  expect(lines.join('')).not.toContain('failed');
  await blocker`rollback`;
});

it('finds the page directories that differ from their lists', async () => {
  await insert(100);
  await rebuild(lists.sql, risingDirectory);
  const rows = async () => (await findDrift(lists.url, directories)).map((drift) => drift.rows);
  expect(await rows()).toEqual([0, 0]);
  await lists.sql`
    update rising_directory_buckets set n = n + 3 where ctid = (select min(ctid) from rising_directory_buckets)`;
  expect(await rows()).toEqual([3, 0]);
});
