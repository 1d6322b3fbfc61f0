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
