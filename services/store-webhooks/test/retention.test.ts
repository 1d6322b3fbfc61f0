import type { Sql } from 'postgres';
import { expect, test } from 'vitest';
import { firstIdOf } from '../src/inbox/event.ts';
import { startBackgroundWork } from '../src/processing/background-work.ts';
import { createPruning, prune, retentionOf } from '../src/retention.ts';
import { startService } from './harness.ts';

const dayMs = 86_400_000;
const now = new Date('2026-06-01T00:00:00.000Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * dayMs);

/** Inserts a record of every type with the key `name` that was last changed at `changed`. */
const insertRecords = async (sql: Sql, storeId: string, name: string, changed: Date) => {
  // Ids contain the time; the last digits distinguish the records.
  const id = firstIdOf(changed).slice(0, -4) + String(1000 + name.length);
  const at = changed.toISOString();
  const rows = {
    orders: { id: name, status: 'A', details: '{}', event_id: id, updated_at: at },
    members: { id: name, event_id: id, updated_at: at },
    delivery_jobs: { id: name, position: 1, event_id: id, updated_at: at },
    verifications: {
      service: 'persona',
      transaction_id: name,
      status: 'A',
      completed: true,
      event_id: id,
      updated_at: at,
    },
    import_jobs: { member_id: name, id, state: 'done', due_at: at, created_at: at },
    notifications: {
      id,
      key: name,
      kind: 'order',
      audience: 'store',
      change: 'A',
      subject: 's',
      mail: 'sent',
      due_at: at,
      created_at: at,
    },
    payments: { service: 'netcetera', transaction_id: name, order_id: 'o', created_at: at },
    event_reveals: {
      id,
      event_id: id,
      kind: 'body',
      revealed_by: 'a',
      request_id: 'r',
      revealed_at: at,
    },
    store_changes: { id, changed_by: 'a', changed_at: at, before: '{}', after: '{}' },
  };
  for (const [table, row] of Object.entries(rows))
    await sql`insert into ${sql(table)} ${sql({ store_id: storeId, ...row })}`;
};

const tables = [
  'orders',
  'members',
  'delivery_jobs',
  'verifications',
  'import_jobs',
  'notifications',
  'payments',
  'event_reveals',
  'store_changes',
] as const;

const countAll = async (sql: Sql) => {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const [row] = await sql<[{ count: number }]>`select count(*)::int as count from ${sql(table)}`;
    counts[table] = row.count;
  }
  return counts;
};

const countOfEach = (count: number) => Object.fromEntries(tables.map((table) => [table, count]));

const types = [
  'ORDER',
  'MEMBER',
  'DELIVERY_JOB',
  'VERIFICATION',
  'IMPORT_JOB',
  'NOTIFICATION',
  'PAYMENT',
  'REVEAL',
];
const all40Days = Object.fromEntries(types.map((type) => [`${type}_RETENTION_DAYS`, '40']));

const start = (variables: Record<string, string> = {}) =>
  startService({ work: false, variables: { PRUNE_PAUSE_MS: '0', ...variables } });

test('records that are older than the setting of their type are deleted in all stores; younger ones stay', async () => {
  await using service = await start(all40Days);
  const { sql } = service.context.database;
  for (const { id } of [await service.store(), await service.store()]) {
    await insertRecords(sql, id, 'a', daysAgo(41));
    await insertRecords(sql, id, 'bb', daysAgo(39));
  }
  expect(await prune(sql, retentionOf(service.context.env), now)).toBe(false);
  expect(await countAll(sql)).toEqual(countOfEach(2));
});

test('pending mails and imports are never deleted', async () => {
  await using service = await start(all40Days);
  const { sql } = service.context.database;
  await insertRecords(sql, (await service.store()).id, 'a', daysAgo(1000));
  await sql`update notifications set mail = 'pending'`;
  await sql`update import_jobs set state = 'pending'`;
  await prune(sql, retentionOf(service.context.env), now);
  expect(await countAll(sql)).toEqual({ ...countOfEach(0), notifications: 1, import_jobs: 1 });
});

test.each([
  ['members are kept forever by default', {}, { ...countOfEach(1), members: 2 }],
  ['no record is deleted before its events', { ...all40Days, INBOX_RETENTION_DAYS: '60' }, countOfEach(1)],
  [
    'forever keeps a type',
    { ...all40Days, ORDER_RETENTION_DAYS: 'forever' },
    { ...countOfEach(0), orders: 2 },
  ],
])('%s', async (_name, variables, remaining) => {
  await using service = await start(variables);
  const { sql } = service.context.database;
  const { id } = await service.store();
  await insertRecords(sql, id, 'a', daysAgo(10_000));
  await insertRecords(sql, id, 'bb', daysAgo(50));
  await prune(sql, retentionOf(service.context.env), now);
  expect(await countAll(sql)).toEqual(remaining);
});

test('a slice deletes at most 1,000 records of a type, oldest first, and returns whether there are more', async () => {
  await using service = await start(all40Days);
  const { sql } = service.context.database;
  const prefix = firstIdOf(daysAgo(100)).slice(0, -4);
  for (const { id } of [await service.store(), await service.store()])
    await sql`
      insert into orders (store_id, id, status, details, event_id, updated_at)
      select ${id}, 'o-' || n, 'A', '{}', (${prefix} || lpad(to_hex(n), 4, '0'))::uuid, now()
      from generate_series(1, 700) n`;
  const { orders } = retentionOf(service.context.env);
  expect(await prune(sql, { orders }, now)).toBe(true);
  expect(await countAll(sql)).toMatchObject({ orders: 400 });
  expect(await prune(sql, { orders }, now)).toBe(false);
  expect(await countAll(sql)).toMatchObject({ orders: 0 });
});

test('the worker prunes all outdated records in the background', async () => {
  await using service = await start(all40Days);
  const { sql } = service.context.database;
  await insertRecords(sql, (await service.store()).id, 'a', new Date(Date.now() - 41 * dayMs));
  await using _work = startBackgroundWork(service.context);
  await expect.poll(() => countAll(sql)).toEqual(countOfEach(0));
});

test('rows that take too long to delete are deleted in smaller slices, and do not block the pruning of other tables', async () => {
  await using service = await start({ ...all40Days, PRUNE_PAUSE_MS: '0' });
  const { sql } = service.context.database;
  const { id } = await service.store();
  await insertRecords(sql, id, 'a', new Date(Date.now() - 41 * dayMs));
  await sql`
    with old as (
      insert into events (store_id, id, event, dedup, body, headers, received_at)
      select ${id}, uuidv7(interval '-41 days'), 'order_updated', sha256(n::text::bytea), '', '{}', now()
      from generate_series(1, 700) n returning store_id, id)
    insert into results (store_id, id, state, attempts, finished_at)
    select store_id, id, 'done', 1, now() from old`;
  await sql`
    create function take_time() returns trigger language plpgsql as $$ begin
      perform pg_sleep(0.01);
      return old;
    end $$`;
  await sql`create trigger slow before delete on results for each row execute function take_time()`;
  const pruneOnce = createPruning(sql, service.context.env);
  await expect(pruneOnce()).rejects.toMatchObject({ code: '57014' });
  await expect.poll(() => pruneOnce().catch(() => true)).toBe(false);
  expect(await sql`select from events`).toHaveLength(0);
  expect(await countAll(sql)).toEqual(countOfEach(0));
}, 60_000);
