import { expect, test } from 'vitest';
import { register, startService } from './harness.ts';

test('responses that depend on a credential, including refusals, have Cache-Control and Vary', async () => {
  await using service = await startService();
  const { as } = await register(service.app);
  const { body: task } = await as('post', '/tasks').send({ title: 'Mine' });
  const path = `/tasks/${task.id}`;
  const answers = [
    await as('get', '/tasks'),
    await as('get', path),
    await as('get', path).set('If-None-Match', '"1"'),
    await as('patch', path).send({ title: 'Still mine' }),
    await as('delete', path),
    await as('get', '/auth/check'),
    await as('get', '/auth/logout'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 304, 200, 204, 200, 204]);
  for (const { headers } of answers) {
    expect(headers['cache-control']).toMatch(/^(?:private, no-cache|private, no-store|no-store)$/);
    expect(headers['vary']).toBe('Authorization, Cookie');
  }
  const refused = [await as('get', path), await as('get', '/auth/check')];
  for (const { status, headers } of refused) {
    expect([status, headers['cache-control']]).toEqual([401, 'no-store']);
  }
});
