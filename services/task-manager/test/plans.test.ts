import { recordPlans } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { register, startService } from './harness.ts';

test('every list of tasks is read by an index, without a sequential scan or a sort of all tasks', async () => {
  await using first = await startService();
  await using plans = recordPlans(first.databaseUrl);
  const overrides = { database: plans.database };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const { as } = await register(service.app);
  const fields = ['createdAt', 'updatedAt', 'dueDate', 'priority', 'title'];
  for (const query of [
    '',
    '?page=7',
    '?status=todo',
    '?priority=high',
    ...fields.flatMap((field) => [`?sort=${field}`, `?sort=-${field}`]),
  ])
    expect([query, await plans.faultsOf(() => as('get', `/tasks${query}`).expect(200))]).toEqual([query, []]);
});
