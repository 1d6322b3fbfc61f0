import { recordPlans } from '@platform/service-kit/testing';
import type { ISql } from 'postgres';
import { expect, test } from 'vitest';
import { createList, register, startService } from './harness.ts';

test('every list of tasks is read by an index, without a sequential scan or a sort of all tasks', async () => {
  await using first = await startService();
  await using plans = recordPlans(first.databaseUrl);
  const searches = { run: <T>(_user: string, read: (sql: ISql) => Promise<T>) => read(plans.sql) };
  const overrides = { database: plans.database, searches };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const owner = await register(service.app);
  const { as } = owner;
  const { id } = await createList(owner);
  const fields = ['createdAt', 'updatedAt', 'dueDate', 'priority', 'title'];
  for (const query of [
    '',
    '?page=7',
    '?status=todo',
    '?priority=high',
    `?list=${id}&page=7`,
    `?list=${id}&assignee=${owner.user.id}`,
    ...fields.flatMap((field) => [`?sort=${field}`, `?sort=-${field}`, `?list=${id}&sort=-${field}`]),
  ])
    expect([query, await plans.faultsOf(() => as('get', `/tasks${query}`).expect(200))]).toEqual([query, []]);
});
