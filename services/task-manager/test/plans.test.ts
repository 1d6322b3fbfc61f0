import { recordPlans } from '@platform/service-kit/testing';
import type { ISql } from 'postgres';
import supertest from 'supertest';
import { expect, test } from 'vitest';
import { createList, register, startService } from './harness.ts';

test('every list of tasks uses an index, without a sequential scan or a sort of all tasks', async () => {
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

test('the feed of a user uses the index by owner and does not read the changes of others', async () => {
  await using first = await startService();
  await using plans = recordPlans(first.databaseUrl);
  await using service = await startService({
    databaseUrl: first.databaseUrl,
    overrides: { database: plans.database },
  });
  const { token } = await register(service.app);
  const read = (after = '') =>
    supertest(service.app)
      .get(`/v1/feeds/task-manager/tasks${after}`)
      .auth(token, { type: 'bearer' })
      .expect(200);
  const { body } = await read();
  await plans.sql`
    insert into feed_log (position, stamp, list, record, owner, action, changed_at)
    select position + n, 1, 'tasks', n, n % 1000, 'created', now()
    from feed_state, generate_series(1, 100000) n`;
  await plans.sql`update feed_state set position = position + 100000, stamp = 1`;
  await plans.sql`analyze feed_log`;
  expect(await plans.rangesOf(() => read(`?after=${body.next}`))).toEqual(['feed_log_by_owner']);
});
