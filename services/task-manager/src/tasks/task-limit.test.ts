import type { Queries } from '@platform/service-kit/record';
import { expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';
import { createTaskLimits } from './task-limit.ts';

test('a user may have MAX_TASKS_PER_USER tasks, and may create another after deleting one', async () => {
  await using service = await startService({ variables: { MAX_TASKS_PER_USER: '3' } });
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const create = (key?: string) =>
    ada
      .as('post', '/tasks')
      .set(key === undefined ? {} : { 'Idempotency-Key': key })
      .send({ title: 'One more' });
  const first = (await create().expect(201)).body;
  await create('second').expect(201);
  await create().expect(201);
  for (const key of [undefined, 'third']) {
    const { status, body } = await create(key);
    expect([status, body.code]).toEqual([409, 'too_many_tasks']);
  }
  expect((await create('second')).status).toBe(201);
  await ben.as('post', '/tasks').send({ title: 'Of another user' }).expect(201);
  await ada.as('delete', `/tasks/${first.id}`).expect(204);
  await expect.poll(async () => (await create('third')).status).toBe(201);
});

test('a refusal is remembered, so that repeated attempts do not count the tasks again', async () => {
  let lookUps = 0;
  const sql = (() => {
    lookUps += 1;
    return Promise.resolve([{}]);
  }) as unknown as Queries;
  const limit = createTaskLimits(1000).own;
  for (const _ of [1, 2]) await expect(limit(sql, 'ada')).rejects.toMatchObject({ code: 'too_many_tasks' });
  await expect(limit(sql, 'ben')).rejects.toMatchObject({ code: 'too_many_tasks' });
  expect(lookUps).toBe(2);
});

test('many simultaneous creations exceed the limit only slightly', async () => {
  await using service = await startService({ variables: { MAX_TASKS_PER_USER: '100' } });
  const { as } = await register(service.app);
  for (let round = 0; round < 8; round++)
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => as('post', '/tasks').send({ title: `${round} ${n}` })),
    );
  const [{ count } = { count: 0 }] = await service.context.database.sql<{ count: number }[]>`
    select count(*)::int from tasks`;
  // Only a few creations run between a check and its insert, because the service has eight connections.
  expect(count).toBeGreaterThanOrEqual(100);
  expect(count).toBeLessThan(120);
});
