import { fold, measureDrift } from '@platform/pagination/directory';
import { withMaintenance } from '@platform/pagination/maintenance';
import postgres from 'postgres';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { projectDirectory } from '../src/db/directory.ts';
import { startService, type Service } from './harness.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  await fill(4000, '2026-01-01');
});
afterAll(() => service[Symbol.asyncDispose]());

const statuses = ['draft', 'active', 'in_review', 'completed', 'archived'];

/** Several projects share an updated_at. */
const fill = (count: number, from: string) => service.context.database.sql`
  insert into projects
  select gen_random_uuid(), 'p' || n, (${statuses}::text[])[1 + (n * n) % 5], 'en', '{}', at, at
  from generate_series(1, ${count}::int) n, lateral (select ${from}::timestamptz + n / 3 * interval '1 s' as at) time`;

const middle = '2026-01-01T00:11:06.000Z';
const filters = [
  {},
  { status: 'active' },
  { modified_after: middle },
  { status: 'draft', modified_after: middle },
];

/** The page that plain OFFSET returns. */
const expected = async (page: number, limit: number, { status, modified_after }: Record<string, string>) => {
  const rows = await service.context.database.sql<{ id: string }[]>`
    select id from projects
    where (${status ?? null}::text is null or status = ${status ?? null})
      and updated_at >= ${modified_after ?? '-infinity'}
    order by updated_at, id offset ${(page - 1) * limit} limit ${limit + 1}`;
  return { ids: rows.slice(0, limit).map(({ id }) => id), hasMore: rows.length > limit };
};

const expectPages = async (filter: Record<string, string>) => {
  for (const limit of [7, 50, 200]) {
    const pages = Math.ceil(4000 / limit);
    for (const page of [1, 2, 3, pages >> 2, pages >> 1, pages - 1, pages, pages + 1, 100_000]) {
      const query = new URLSearchParams({ page: `${page}`, limit: `${limit}`, ...filter });
      const { body } = await service.read(`/projects?${query.toString()}`).expect(200);
      const { ids, hasMore } = await expected(page, limit, filter);
      expect(body.projects.map(({ id }: { id: string }) => id)).toEqual(ids);
      expect(body.page).toEqual({ number: page, has_more: hasMore, limit });
    }
  }
};

describe.each(filters)('pages of %j', (filter) => {
  test('equal those of OFFSET, before and after changes are folded', async () => {
    const { sql } = service.context.database;
    await expectPages(filter);
    await sql`delete from projects where id in (select id from projects where name ~ '3$' limit 100)`;
    await sql`update projects set status = 'active', updated_at = at from next_updated_at() as at where name ~ '77$'`;
    await expectPages(filter);
    await fold(sql, projectDirectory);
    expect(await measureDrift(sql, projectDirectory)).toBe(0);
    await expectPages(filter);
  });
});

test('stops at once although maintenance waits for a lock', async () => {
  await using instance = await startService();
  const blocker = postgres(instance.databaseUrl, { max: 1 });
  const { context } = await instance.startInstance();
  const running = withMaintenance(context, instance.databaseUrl, [projectDirectory]);
  await blocker.begin(async (sql) => {
    await sql`insert into projects select gen_random_uuid(), 'p', 'draft', 'en', '{}', now(), now()`;
    await sql`lock table projects in access exclusive mode`;
  });
  await blocker`begin`;
  await blocker`lock table projects in access exclusive mode`;
  const waiting = () => blocker`
    select from pg_locks where not granted
      and database = (select oid from pg_database where datname = current_database())`;
  running.changed?.();
  await expect.poll(waiting).not.toHaveLength(0);

  await running[Symbol.asyncDispose]();
  await blocker.end();
});

test('a running instance folds changes and exports the number of pending changes and the drift', async () => {
  const { context } = await service.startInstance();
  const running = withMaintenance(context, service.databaseUrl, [projectDirectory]);
  const { listener: app } = createApp(running);
  await fill(100, '2027-01-01');
  running.changed?.();
  const pending = async () => {
    const { text } = await request(app).get('/metrics').expect(200);
    expect(text).toContain('directory_drift_rows');
    return /^directory_pending_changes\{list="projects"\} (\d+)$/m.exec(text)?.[1];
  };
  await expect.poll(pending).toBe('0');
  await running[Symbol.asyncDispose]();
});
