import postgres from 'postgres';
import { expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';
import { readPage } from './list-queries.ts';
import type { Sort } from './schema.ts';

const fields = ['createdAt', 'updatedAt', 'dueDate', 'priority', 'title'];
const sorts = fields.flatMap((field) => [field, `-${field}`]) as Sort[];

interface Plan {
  'Node Type': string;
  'Heap Fetches'?: number;
  Plans?: Plan[];
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

test('a deep page in any order skips the tasks before it with an index-only scan', async () => {
  await using service = await startService();
  const { user } = await register(service.app);
  const [live] = await service.context.database.sql<{ id: string }[]>`select id from sessions`;
  const session = { userId: user.id, id: live?.id ?? '' };
  let lastStatement: { text: string; parameters: unknown[] } | undefined;
  const sql = postgres(service.databaseUrl, {
    max: 1,
    onnotice: () => undefined,
    debug: (_connection, text, parameters) => (lastStatement = { text, parameters }),
  });
  await sql.begin(async (tx) => {
    // Vacuum can't mark rows of an asynchronous commit as visible to all until the commit is on disk.
    await tx`set local synchronous_commit = on`;
    await tx`
      insert into users (id, email, password_hash, created_at)
      select uuidv7(), 'other-' || n || '@example.test', '', now() from generate_series(1, 300) n`;
    await tx`
      insert into tasks (owner_id, id, title, description, status, priority, due_date, tags, created_at, updated_at, version)
      select users.id, uuidv7(), 'Task ' || n % 500, '', 'todo', (array['low', 'high'])[1 + n % 2]::task_priority,
        date '2026-01-01' + n % 400, '{}', now() - n * interval '1 s', now() - n * interval '1 s', 1
      from users, generate_series(1, 3000) n where users.id = ${user.id} or n <= 50`;
  });
  // Repeated, because vacuum can't mark the rows as visible to all while another transaction is open, such as autovacuum's ANALYZE.
  const vacuumAndCheckVisibility = async (): Promise<unknown> => {
    await sql`vacuum analyze tasks`;
    const [row] =
      await sql`select relallvisible = relpages as visible from pg_class where oid = 'tasks'::regclass`;
    return row?.['visible'];
  };
  await expect.poll(vacuumAndCheckVisibility).toBe(true);
  for (const sort of sorts) {
    const page = { offset: 2900n, limit: 20 };
    const tasks = await readPage(sql, { session, listId: undefined, filters: {}, sort }, page);
    expect(JSON.parse(`[${tasks?.json}]`)).toHaveLength(20);
    expect(tasks?.hasMore).toBe(true);
    const { text = '', parameters = [] } = lastStatement ?? {};
    const [row] = await sql.unsafe(`explain (analyze, format json) ${text}`, parameters as string[]);
    const nodes = nodesOf(row?.['QUERY PLAN'][0].Plan);
    const indexOnlyScans = nodes.filter((node) => node['Node Type'] === 'Index Only Scan');
    expect({ sort, heapFetches: indexOnlyScans.map((node) => node['Heap Fetches']) }).toEqual({
      sort,
      heapFetches: [0],
    });
  }
  await sql.end();
});

test('a page of long tasks is refused if it would delay others, but never with the default limit', async () => {
  await using service = await startService();
  const { user, as } = await register(service.app);
  const { sql } = service.context.database;
  const [title, description] = ['\u0001'.repeat(200), '\u0001'.repeat(10_000)];
  const tags = Array.from({ length: 20 }, (_, n) => String.fromCharCode(1 + n).repeat(40));
  await sql`
    insert into tasks (owner_id, id, title, description, status, priority, due_date, due_at, tags, created_at, updated_at, version)
    select ${user.id}, uuidv7(), ${title}, ${description}, 'in_progress', 'medium', current_date, now(), ${tags}, now(), now(), 1
    from generate_series(1, 60)`;
  expect((await as('get', '/tasks')).body.tasks).toHaveLength(50);
  for (const query of ['limit=60', 'limit=60&status=in_progress']) {
    const { status, body } = await as('get', `/tasks?${query}`);
    expect(status).toBe(400);
    expect(body.errors).toEqual({ limit: ['must be lower: these tasks have more than 3670016 bytes'] });
  }
});

test('autovacuum runs after 2 % of changes, because otherwise a deep page reads the skipped tasks', async () => {
  await using service = await startService();
  const [table] = await service.context.database.sql`
    select reloptions from pg_class where oid = 'tasks'::regclass`;
  expect(table?.['reloptions']).toEqual([
    'autovacuum_vacuum_scale_factor=0.02',
    'autovacuum_vacuum_insert_scale_factor=0.02',
  ]);
});
