import { expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';

test('the accounts of a network store at most WRITTEN_MB_PER_NETWORK in six hours, and read as before', async () => {
  await using service = await startService({ variables: { RATE_LIMIT: 'on', WRITTEN_MB_PER_NETWORK: '1' } });
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const task = { title: 'Long', description: 'x'.repeat(10_000) };
  const operations = Array.from({ length: 60 }, () => ({ op: 'create', task }));
  const send = async ({ as } = ada) => (await as('post', '/tasks/batch').send({ operations })).status;
  expect([await send(), await send(ben)]).toEqual([200, 200]);
  // Those beyond are refused one by one.
  expect((await ada.as('get', '/tasks?limit=100').expect(200)).body.tasks).toHaveLength(60);
  const { status, body, headers } = await ben.as('post', '/tasks').send({ title: 'One more' });
  expect([status, body.code, body.detail]).toEqual([
    429,
    'too_many_requests',
    'Your network may store 1 MB of tasks in six hours.',
  ]);
  expect(Number(headers['retry-after'])).toBeGreaterThan(20_000);
  await ada.as('get', '/tasks').expect(200);
});
