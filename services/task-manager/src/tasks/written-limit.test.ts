import { expect, test } from 'vitest';
import { createList, register, startService } from '../../test/harness.ts';

const variables = { RATE_LIMIT: 'on', WRITTEN_MB_PER_NETWORK: '1' };
const longTask = { title: 'Long', description: 'x'.repeat(10_000) };
const sixtyTimes = (operation: object) => ({ operations: Array.from({ length: 60 }, () => operation) });
const limitReached = {
  status: 429,
  code: 'too_many_requests',
  detail:
    'Your network may store 1 MB of tasks in six hours, in addition to the first 256 kB of each account.',
};

test('the accounts of a network may store WRITTEN_MB_PER_NETWORK in six hours and can still read; a further account may store a little', async () => {
  await using service = await startService({ variables });
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const countStored = async ({ as } = ada): Promise<number> => {
    const { body } = await as('post', '/tasks/batch')
      .send(sixtyTimes({ op: 'create', task: longTask }))
      .expect(200);
    return (body.results as { status: number }[]).filter(({ status }) => status === 201).length;
  };
  expect([await countStored(), await countStored(ben)]).toEqual([60, 60]);
  expect(await countStored()).toBeLessThan(30);
  const { body, headers } = await ben.as('post', '/tasks').send(longTask);
  expect(body).toMatchObject(limitReached);
  expect(Number(headers['retry-after'])).toBeGreaterThan(20_000);
  await ben.as('get', '/tasks').expect(200);
  const neighbour = await register(service.app);
  for (const _ of [1, 2, 3]) await neighbour.as('post', '/tasks').send(longTask).expect(201);
});

test('responses stored for an Idempotency-Key count, too: a batch without a key still works', async () => {
  await using service = await startService({ variables });
  const { as } = await register(service.app);
  const { body } = await as('post', '/tasks/batch').send(sixtyTimes({ op: 'create', task: longTask }));
  const [{ task }] = body.results as [{ task: { id: string } }];
  const unchanged = sixtyTimes({ op: 'patch', id: task.id, task: {} });
  const refused = await as('post', '/tasks/batch').set('Idempotency-Key', 'a').send(unchanged);
  expect(refused.body).toMatchObject(limitReached);
  expect(await service.context.database.sql`select from idempotency_keys`).toHaveLength(0);
  await as('post', '/tasks/batch').send(unchanged).expect(200);
});

test('a change counts with the size of the whole task, and each row counts a kilobyte more', async () => {
  await using service = await startService({ variables });
  const statusesOf = async ({ as }: Awaited<ReturnType<typeof register>>, operations: object[]) => {
    const { body } = await as('post', '/tasks/batch').send({ operations }).expect(200);
    return (body.results as { status: number }[]).map(({ status }) => status);
  };
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const { body: task } = await ada.as('post', '/tasks').send(longTask).expect(201);
  const renameOperations = (from: number) =>
    Array.from({ length: 100 }, (_, n) => ({
      op: 'patch',
      id: task.id,
      task: { title: `Name ${from + n}` },
    }));
  await statusesOf(ada, renameOperations(0));
  expect(await statusesOf(ada, renameOperations(100))).toContain(429);
  // Only the 256 kB that Ben's account may always store are left.
  const createShort = Array.from({ length: 100 }, () => ({ op: 'create', task: { title: 'Short' } }));
  const created = [
    await statusesOf(ben, createShort),
    await statusesOf(ben, createShort),
    await statusesOf(ben, createShort),
  ];
  const count = created.flat().filter((status) => status === 201).length;
  expect(count).toBeGreaterThan(150);
  expect(count).toBeLessThan(262);
});

test('an IPv6 /48 may store 16 times as much as a /64, so that one customer of a provider does not block others', async () => {
  await using service = await startService({ variables });
  const countStored = async (address: string): Promise<number> => {
    const { as } = await register(service.app);
    const { body } = await as('post', '/tasks/batch')
      .set('X-Forwarded-For', address)
      .send({ operations: Array.from({ length: 100 }, () => ({ op: 'create', task: longTask })) });
    return (body.results as { status: number }[]).filter(({ status }) => status === 201).length;
  };
  const [first, second] = ['2001:db8:9:1::1', '2001:db8:9:ff01::1'];
  expect([await countStored(first), await countStored(first)]).toEqual([100, expect.any(Number)]);
  expect(await countStored(first)).toBeLessThan(30);
  expect(await countStored(second)).toBe(100);
});

test('invitations count as well', async () => {
  await using service = await startService({ variables });
  const ada = await register(service.app);
  const list = await createList(ada);
  const statuses = [];
  for (let round = 0; round < 60; round++) {
    const members = Object.fromEntries(
      Array.from({ length: 45 }, (_, n) => [
        `${'a'.repeat(60)}-${round}-${n}@${'b'.repeat(60)}.test`,
        { role: 'viewer' },
      ]),
    );
    statuses.push((await ada.as('patch', list.path).send({ members })).status);
    const removals = Object.fromEntries(Object.keys(members).map((email) => [email, null]));
    await ada.as('patch', list.path).send({ members: removals });
  }
  expect(statuses).toContain(429);
});
