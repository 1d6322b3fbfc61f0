import connect, { type ISql } from 'postgres';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { storeLists } from '../src/app.ts';
import { eventList } from '../src/events/list.ts';
import { paymentList } from '../src/payments/list.ts';
import { orderList } from '../src/records/orders.ts';
import { startService } from './harness.ts';

const service = await startService({ work: false });
afterAll(() => service[Symbol.asyncDispose]());
const { sql, orm } = service.context.database;

const rows = 5000;
let id = '';
/** Two stores with `rows` pending events each. */
let busy: string[] = [];

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  Plans?: Plan[];
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The types of the nodes of a plan. */
const typesOf = (explained: { 'QUERY PLAN': [{ Plan: Plan }] } | undefined) =>
  nodesOf(explained?.['QUERY PLAN'][0].Plan as Plan).map((node) => node['Node Type']);

beforeAll(async () => {
  id = (await service.store()).id;
  busy = [(await service.store()).id, (await service.store()).id];
  const statement = `
      insert into orders (store_id, id, status, details, event_id, updated_at)
        select '${id}', 'o-' || n, 'A', '{}', gen_random_uuid(), now() from generate_series(1, ${rows}) n;
      update orders set consumer_id = 'm-' || right(id, 1);
      insert into members (store_id, id, event_id, updated_at)
        select '${id}', 'm-' || n, gen_random_uuid(), now() from generate_series(1, ${rows}) n;
      insert into import_jobs (store_id, member_id, id, due_at, created_at)
        select '${id}', 'm-' || n, gen_random_uuid(), now(), now() from generate_series(1, ${rows}) n;
      insert into users (store_id, id, consumer_user_id, created_at)
        select '${id}', gen_random_uuid(), 'm-' || n, now() from generate_series(1, ${rows}) n;
      insert into delivery_jobs (store_id, id, position, event_id, updated_at)
        select '${id}', 'j-' || n, 1, gen_random_uuid(), now() from generate_series(1, ${rows}) n;
      insert into verifications (store_id, service, transaction_id, status, completed, event_id, updated_at)
        select '${id}', 'persona', 't-' || n, 'A', false, gen_random_uuid(), now()
        from generate_series(1, ${rows}) n;
      insert into notifications (store_id, id, key, kind, audience, change, subject, mail, due_at, created_at)
        select '${id}', gen_random_uuid(), n, 'order', 'store', 'c', 's', 'off', now(), now()
        from generate_series(1, ${rows}) n;
      insert into event_reveals (store_id, id, event_id, kind, revealed_by, request_id, revealed_at)
        select '${id}', gen_random_uuid(), gen_random_uuid(), 'body', 'a', 'r', now() from generate_series(1, ${rows}) n;
      insert into store_changes (store_id, id, changed_by, changed_at, before, after)
        select '${id}', gen_random_uuid(), 'a', now(), '{}', '{}' from generate_series(1, ${rows}) n;
      insert into payments (store_id, service, transaction_id, order_id, settled_by, created_at)
        select '${id}', 'threedsecureio', 't-' || n, 'o-' || n, repeat('s', 500), now() + n * interval '1 ms'
        from generate_series(1, ${rows}) n;
      insert into events (store_id, id, event, entity, dedup, body, headers, received_at)
        select '${id}', gen_random_uuid(), case when n % 10 = 0 then 'new_member' else 'order_updated' end,
          'order:o-' || n % 500, uuid_send(gen_random_uuid()), '', '{}', now()
        from generate_series(1, ${rows}) n;
      insert into results (store_id, id, state, attempts, finished_at)
        select store_id, id, case when row_number() over () % 50 = 0 then 'failed' else 'done' end, 1, now()
        from events;
      insert into events (store_id, id, event, entity, dedup, body, headers, received_at)
        select store, gen_random_uuid(), 'order_updated', 'order:p-' || n, uuid_send(gen_random_uuid()), '', '{}', now()
        from generate_series(1, ${rows}) n, unnest('{${busy.join(',')}}'::uuid[]) store;
      insert into queue (store_id, entity, id, queued_at, due_at, attempts)
        select store_id, entity, id, now(), now(), 0 from events where store_id <> '${id}';
      analyze`;
  // A separate connection, because those of the service have a statement timeout.
  const connection = connect(service.databaseUrl, { max: 1 });
  await connection.unsafe(statement);
  // As autovacuum does, for index-only scans. Has no effect while another transaction reads, so it is repeated.
  const vacuum = async (): Promise<unknown> => {
    await connection`vacuum events, orders, payments`;
    const [row] = await connection`
      select bool_and(relallvisible = relpages) as visible from pg_class
      where oid in ('events'::regclass, 'orders'::regclass, 'payments'::regclass)`;
    return row?.['visible'];
  };
  await vi.waitUntil(vacuum, { timeout: 20_000 });
  await connection.end();
});

test.each(storeLists)(
  'the list $path is read in the order of an index, without sorting',
  async ({ rows: rowsOf }) => {
    const { sql: text, params } = rowsOf(orm, id, { offset: 100n, limit: 50 }).toSQL();
    const [plan] = await sql.unsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
      `explain (format json) ${text}`,
      params as string[],
    );
    const types = typesOf(plan);
    expect(types).toContain('Index Scan');
    expect(types).not.toContain('Sort');
    expect(types).not.toContain('Seq Scan');
  },
);

test.each([
  ['orders', { consumerId: 'm-1' }],
  ['orders', { updatedAfter: '2020-01-01T00:00:00.000Z' }],
  ['verifications', { userId: 'm-1' }],
])('the %s with %j are read in the order of an index, without sorting', async (name, filter) => {
  const list = storeLists.find(({ path }) => path === name);
  const { sql: text, params } = list?.rows(orm, id, { offset: 0n, limit: 50 }, filter).toSQL() ?? {};
  const [plan] = await sql.unsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
    `explain (format json) ${text}`,
    params as string[],
  );
  const types = typesOf(plan);
  expect(types).not.toContain('Sort');
  expect(types).not.toContain('Seq Scan');
});

const hour = (shift: number) => new Date(Date.now() + shift * 3_600_000).toISOString();

/** Number of buffers that the database reads for a page of a list. */
const buffersOf = async (
  page: number,
  list: Pick<typeof eventList, 'rows'>,
  filter: object,
): Promise<number> => {
  const limit = 35;
  const offset = BigInt((page - 1) * limit);
  const { sql: text, params } = list.rows(orm, id, { offset, limit }, filter).toSQL();
  const [plan] = await sql.unsafe<[{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }]>(
    `explain (analyze, buffers, format json) ${text}`,
    params as string[],
  );
  const { Plan: top } = plan['QUERY PLAN'][0];
  return (top['Shared Hit Blocks'] ?? 0) + (top['Shared Read Blocks'] ?? 0);
};

test.each([
  ['events', eventList, {}],
  ['events of two hours', eventList, { from: hour(-1), to: hour(1) }],
  ['orders', orderList, {}],
  ['payments', paymentList, {}],
])('page 140 of the %s reads only index entries more than page 1', async (_, list, filter) => {
  const [first, late] = [await buffersOf(1, list, filter), await buffersOf(140, list, filter)];
  expect(first).toBeGreaterThan(0);
  expect(late).toBeLessThan(first + 100);
});

test('consecutive pages of events contain every event once, newest first', async () => {
  const pages = [];
  for (let page = 1; page <= rows / 200; page++)
    pages.push((await service.admin('GET', `/v1/stores/${id}/events?limit=200&page=${page}`)).body['events']);
  const ids = (pages as unknown as { id: string }[][]).flat().map(({ id: event }) => event);
  const all = await sql<{ id: string }[]>`select id from events where store_id = ${id} order by id desc`;
  expect(ids).toEqual(all.map(({ id: event }) => event));
});

test.each([
  [{}],
  [{ status: 'failed' as const }],
  [{ status: 'done' as const }],
  [{ event: 'new_member' as const }],
  [{ entity: 'o-17' }],
  [{ entity: 'o-17', status: 'done' as const, event: 'order_updated' as const }],
  [{ from: hour(-1), to: hour(1) }],
  [{ from: hour(-1), to: hour(1), status: 'failed' as const }],
])('the list of events filtered by %j is read in the order of an index, without sorting', async (filter) => {
  const { sql: text, params } = eventList.rows(orm, id, { offset: 0n, limit: 50 }, filter).toSQL();
  const [plan] = await sql.unsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
    `explain (format json) ${text}`,
    params as string[],
  );
  const types = typesOf(plan);
  expect(types).not.toContain('Sort');
  expect(types).not.toContain('Seq Scan');
});

test.each([
  ['one store', () => busy[0] ?? ''],
  ['all stores', () => '-'],
  ['a store that has none', () => id],
])(
  'for pending events of %s, the queue of each store is read, and the events of the page',
  async (_, store) => {
    const limit = 50;
    const filter = { status: 'pending' as const };
    const { sql: text, params } = eventList.rows(orm, store(), { offset: 0n, limit }, filter).toSQL();
    const [plan] = await sql.unsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
      `explain (analyze, format json) ${text}`,
      params as string[],
    );
    const nodes = nodesOf(plan['QUERY PLAN'][0].Plan);
    const readBy = (plans: Plan[]) => Math.max(...plans.map((node) => node['Actual Rows'] ?? 0));
    expect(readBy(nodes.filter((node) => node['Relation Name'] === 'events'))).toBeLessThanOrEqual(limit + 1);
    expect(readBy(nodes)).toBeLessThanOrEqual(store() === id ? 0 : rows);
  },
);

test('the list of all stores has the pending events of each store, newest first', async () => {
  const answer = await service.admin('GET', '/v1/stores/-/events?status=pending&limit=200');
  const found = answer.body['events'] as unknown as { id: string; storeId: string }[];
  const ids = await sql<{ id: string }[]>`select id from queue order by id desc limit 200`;
  expect(found.map(({ id: event }) => event)).toEqual(ids.map(({ id: event }) => event));
  expect(new Set(found.map(({ storeId }) => storeId))).toEqual(new Set(busy));
});

test.each(['o-17', 'order:o-17'])(
  'events are found by the id of their entity, and by the entity: %s',
  async (entity) => {
    const answer = await service.admin('GET', `/v1/stores/${id}/events?entity=${entity}&limit=200`);
    const found = answer.body['events'] as unknown as { entity: string }[];
    expect(found).toHaveLength(rows / 500);
    expect(new Set(found.map((event) => event.entity))).toEqual(new Set(['order:o-17']));
  },
);

test('late pages and lists of all stores use the connections of searches, not those that store webhooks', async () => {
  let searches = 0;
  const run = <T>(read: (on: ISql) => Promise<T>): Promise<T> => {
    searches += 1;
    return service.context.searches.run(read);
  };
  const overrides = { searches: { ...service.context.searches, run } };
  await using counted = await startService({ work: false, databaseUrl: service.databaseUrl, overrides });
  const searchesOf = async (path: string): Promise<number> => {
    searches = 0;
    expect((await counted.admin('GET', path)).status).toBe(200);
    return searches;
  };
  for (const list of ['members', 'payments', 'events'])
    expect([
      list,
      await searchesOf(`/v1/stores/${id}/${list}?limit=200&page=51`),
      await searchesOf(`/v1/stores/${id}/${list}?limit=200&page=52`),
      await searchesOf(`/v1/stores/-/${list}`),
    ]).toEqual([list, 0, 1, 1]);
});
