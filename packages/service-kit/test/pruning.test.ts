import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { openDatabase, type Database } from '../src/database/database.ts';
import { startPruning, type Prunable } from '../src/background/pruning.ts';
import { captureLog } from '../src/testing/log.ts';
import { migrations } from './fixture/service.ts';
import { cloneDatabase } from '../src/testing/database.ts';

const prunable: Prunable = { table: 'drafts', outdated: "made_at < now() - interval '1 day'", batchSize: 10 };
let database: Database;
let other: Database;
let disposal: AsyncDisposableStack;

beforeAll(async () => {
  disposal = new AsyncDisposableStack();
  const { url } = disposal.use(await cloneDatabase(inject('postgresUrl'), migrations));
  database = disposal.use(openDatabase({ url, name: 'one' }));
  other = disposal.use(openDatabase({ url, name: 'other' }));
  await database.sql`create table drafts (id int primary key, made_at timestamptz)`;
  await database.sql`create table deletions (by xid8)`;
  await database.sql.unsafe(`
    create function note() returns trigger language plpgsql as $$
      begin insert into deletions values (pg_current_xact_id()); return old; end $$;
    create trigger note before delete on drafts for each row execute function note()`);
});
afterAll(() => disposal.disposeAsync());

beforeEach(async () => {
  await database.sql`truncate drafts, deletions`;
  await database.sql`
    insert into drafts select n, now() - case when n <= 25 then interval '25 hours' else interval '23 hours' end
    from generate_series(1, 40) n`;
});

const remainingIds = async (): Promise<number[]> => {
  const rows = await database.sql<{ id: number }[]>`select id from drafts order by id`;
  return rows.map(({ id }) => id);
};
const recentIds = Array.from({ length: 15 }, (_, n) => n + 26);

const start = ({ sql }: Database, everyMs = 600_000) => {
  const { log, lines } = captureLog();
  return Object.assign(startPruning({ sql, log, prunables: [prunable], everyMs }), { lines });
};

test('only outdated rows are deleted, in transactions of a bounded size', async () => {
  await using pruning = start(database);
  await expect.poll(remainingIds).toEqual(recentIds);
  const batches = await database.sql<{ rows: number }[]>`
    select count(*)::int as rows from deletions group by by order by rows`;
  expect(batches.map(({ rows }) => rows)).toEqual([5, 10, 10]);
  await expect.poll(() => pruning.lines.join('')).toContain('"table":"drafts","rows":25');
});

test('only one process prunes at a time; when it stops, another one continues', async () => {
  const pruner = await other.sql.reserve();
  await pruner`begin`;
  // The lock that a pruning process takes.
  await pruner`select pg_advisory_xact_lock(4218335)`;
  await using pruning = start(database, 20);
  const runs = new Set<string>();
  const countRuns = async () => {
    const rows = await other.sql<{ at: string }[]>`
      select query_start::text as at from pg_stat_activity where application_name like 'one:%'`;
    for (const { at } of rows) runs.add(at);
    return runs.size;
  };
  await expect.poll(countRuns).toBeGreaterThan(3);
  expect(await remainingIds()).toHaveLength(40);
  await pruner`rollback`;
  pruner.release();
  await expect.poll(remainingIds).toEqual(recentIds);
  expect(pruning.lines.join('')).not.toContain('failed');
});

test('a locked row delays nothing and is deleted by a later run', async () => {
  const holder = await other.sql.reserve();
  await holder`begin`;
  await holder`select from drafts where id in (3, 26) for update`;
  await using _pruning = start(database, 20);
  await expect.poll(remainingIds).toEqual([3, ...recentIds]);
  await holder`rollback`;
  holder.release();
  await expect.poll(remainingIds).toEqual(recentIds);
});

test('a table whose rows cannot be deleted does not block other tables', async () => {
  await database.sql`create table stuck as select now() - interval '2 days' as made_at from generate_series(1, 5)`;
  await database.sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'stuck'; end $$;
    create trigger refuse before delete on stuck for each row execute function refuse()`);
  const { log, lines } = captureLog();
  const prunables = [{ ...prunable, table: 'stuck' }, prunable];
  await using _pruning = startPruning({ sql: database.sql, log, prunables });
  await expect.poll(remainingIds).toEqual(recentIds);
  await expect.poll(() => lines.join('')).toContain('background task failed');
});
