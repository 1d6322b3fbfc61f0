import { createFeed } from '@platform/feed';
import { recordPlans } from '@platform/service-kit/testing';
import request from 'supertest';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

test('every list is read in the order of an index, without a sequential scan', async () => {
  await using first = await startService();
  // The list of languages has always all of them.
  await using plans = recordPlans(first.databaseUrl, /_directory_|languages/);
  const overrides = { database: plans.database };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const project = { name: 'One', source_language: 'en', target_languages: ['de'] };
  const { body } = await service.admin.post('/projects', project).expect(201);
  for (const path of [
    '/projects?page=7',
    '/projects?status=active',
    '/projects?modified_after=2026-01-01',
    '/projects?status=active&modified_after=2026-01-01&page=2',
    '/languages',
    `/projects/${body.id}/deliverables`,
  ])
    expect([path, await plans.faultsOf(() => service.read(path).expect(200))]).toEqual([path, []]);
  const { key } = await service.storeKey({ clients: ['Anna', 'Tartu'] });
  const read = (path: string) => request(service.app).get(`/v1${path}`).set('X-API-Key', key);
  for (const path of ['/projects', '/projects?status=active&modified_after=2026-01-01&page=2'])
    expect([path, await plans.faultsOf(() => read(path).expect(200))]).toEqual([path, []]);
  for (const path of ['/api-keys'])
    expect([path, await plans.faultsOf(() => service.admin.get(path).expect(200))]).toEqual([path, []]);
});

test('an export is read by an index on the id, or on the client for a reader limited to clients', async () => {
  await using first = await startService();
  await using plans = recordPlans(first.databaseUrl, /./);
  const { health } = first.context;
  const follow = createFeed({ service: 'verify-projects', database: plans.database, health, days: 30 });
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides: { follow } });
  await first.context.database.sql`
    with project as (
      insert into projects (id, name, client, status, source_language, target_languages, created_at, updated_at)
      select uuidv7(), 'One', 'Tartu', 'active', 'en', '{de}', now(), now() from generate_series(1, 3000)
      returning id, client)
    insert into deliverables (project_id, id, client, language, type, status, updated_at)
    select id, uuidv7(), client, 'de', 'report', 'pending', now() from project`;
  await first.context.database.sql`analyze`;
  const { key } = await service.storeKey({ clients: ['Anna', 'Tartu'] });
  const rangesOf = (list: string, readerKey: string) =>
    plans.rangesOf(() =>
      request(service.app)
        .get(`/v1/feeds/verify-projects/${list}/export`)
        .set('X-API-Key', readerKey)
        .expect(200),
    );
  expect(await rangesOf('projects', service.key)).toContain('projects_pkey');
  expect(await rangesOf('projects', key)).toContain('projects_by_client_and_id');
  expect(await rangesOf('deliverables', service.key)).toContain('deliverables_by_id');
  expect(await rangesOf('deliverables', key)).toContain('deliverables_by_client');
});
