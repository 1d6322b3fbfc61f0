import { exercise } from '@platform/openapi-tests';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { createList, goodPassword, register, startService, tokenWith } from './harness.ts';

test('every operation answers as the document says', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const ann = await register(service.app);
  // A refresh token works once and a later use ends the session, so refreshing needs another user.
  const ben = await register(service.app);
  // In one list of Ben Ann is a viewer, in another one she is invited.
  const [watched, open] = [await createList(ben), await createList(ben)];
  await watched.join(ann, 'viewer');
  await open.invite(ann.email);
  const { body: task } = await ben.as('post', '/tasks').send({ title: 'Watched', listId: watched.id });
  const faults = await exercise({
    url: server.url,
    credentials: { bearer: ann.token, cookie: ann.token, operator: await tokenWith('accounts:admin') },
    credentialsWithoutScope: { operator: await tokenWith('ops:read') },
    values: {
      id: [watched.id, task.id],
      code: [await open.codeFor(ann.email)],
      list: [watched.id],
      listId: [null, watched.id],
      assigneeId: [null],
      assignee: [ann.user.id],
      // The names of the Secure cookies, which apply on every host but localhost.
      Cookie: [
        ben.cookies
          .replaceAll('tasks_access', '__Host-tasks_access')
          .replaceAll('tasks_refresh', '__Host-tasks_refresh'),
      ],
      password: [goodPassword],
      email: [
        ann.email,
        ben.email,
        'cleo@example.test',
        'dan@example.test',
        'eve@example.test',
        'finn@example.test',
      ],
    },
  });
  expect(faults).toEqual([]);
});
