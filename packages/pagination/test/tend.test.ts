import { captureLog } from '@platform/service-kit/testing';
import { Registry } from 'prom-client';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { tendDirectories } from '../src/directory/tend.ts';
import { countUnfolded } from '../src/directory/upkeep.ts';
import { migrated, type TestGround } from './database.ts';
import { directories, listsSql, owners, risingDirectory } from './lists.ts';

let ground: TestGround;
let sql: Sql;
beforeAll(async () => {
  ground = await migrated(listsSql);
  ({ sql } = ground);
});
afterAll(() => ground[Symbol.asyncDispose]());

const insert = (rows: number) => sql`
  insert into rising select gen_random_uuid(), now(), ${owners[0] ?? ''}::uuid, 1 from generate_series(1, ${rows}::int)`;

it('folds what is written, shows drift as a metric and in the log, and stops when disposed of', async () => {
  const { log, lines } = captureLog();
  const registry = new Registry();
  const often = { foldEvery: 10, thinEvery: 20, checkEvery: 30 };
  const tending = tendDirectories({ sql: ground.connect(), directories, log, registry, ...often });
  await insert(100);
  await vi.waitFor(async () => expect(await countUnfolded(sql, risingDirectory)).toBe(0), 10_000);
  await vi.waitFor(async () => {
    expect(await registry.metrics()).toContain('directory_drift_rows{list="rising"} 0');
  }, 10_000);
  expect(await registry.metrics()).toContain('directory_unfolded_changes{list="rising"} 0');

  await sql`update rising_directory set n = n + 3 where ctid = (select min(ctid) from rising_directory)`;
  await vi.waitFor(async () => {
    expect(await registry.metrics()).toMatch(/directory_drift_rows\{list="rising"\} [1-9]/);
  }, 10_000);
  expect(lines.join('')).toContain('the page directory is off');

  await tending[Symbol.asyncDispose]();
  await insert(5);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await countUnfolded(sql, risingDirectory)).toBe(5);
});

it('logs a failing list once although others succeed, and goes on when the database is back', async () => {
  const { log, lines } = captureLog();
  const tables = { ...risingDirectory, table: 'later' };
  await using _tending = tendDirectories({
    sql: ground.connect(),
    directories: [tables, risingDirectory],
    log,
    registry: new Registry(),
    foldEvery: 5,
  });
  await vi.waitFor(() => expect(lines.join('')).toContain('page directory maintenance failed'), 10_000);
  await insert(100);
  await vi.waitFor(async () => expect(await countUnfolded(sql, risingDirectory)).toBe(0), 10_000);
  await sql`create function later_directory_fold(most integer) returns integer language sql as 'select 0'`;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(lines.filter((line) => line.includes('failed'))).toHaveLength(1);
});
