import { exercise } from '@platform/openapi-tests';
import { serve } from '@platform/service-kit/testing';
import supertest from 'supertest';
import { expect, test } from 'vitest';
import { at, createList, newEmail, register, tokenWith } from './harness.ts';
import { startWithMail } from './mail-harness.ts';

test('every operation responds as the OpenAPI document describes', async () => {
  // Without Redis, which other tests share and which would store the failed logins of the examples.
  await using service = await startWithMail({ REDIS_URL: '' });
  await using server = await serve(service.app);
  // The password of the examples.
  const password = 'try-me-out-2026';
  const ann = await register(service.app, newEmail(), password);
  // Dan deletes his account.
  const dan = await register(service.app);
  const token = ({ target }: { target: string }) =>
    target.startsWith('/api/v1/auth/me/delete') ? dan.token : ann.token;
  // A refresh token works once and a later use ends the session, so refreshing needs another user.
  const ben = await register(service.app);
  // Ann is a viewer of one of Ben's lists and is invited to another.
  const [viewedList, invitedList] = [await createList(ben), await createList(ben)];
  await viewedList.join(ann, 'viewer');
  await invitedList.invite(ann.email);
  const { body: task } = await ben.as('post', '/tasks').send({ title: 'Watched', listId: viewedList.id });
  const cleo = await register(service.app);
  const { code: confirmation } = await service.lastMailTo(cleo.email);
  await supertest(service.app).post(at('/auth/password/reset')).send({ email: cleo.email }).expect(202);
  const { code: reset } = await service.lastMailTo(cleo.email, 2);
  const faults = await exercise({
    url: server.url,
    credentials: { bearer: token, cookie: token, operator: await tokenWith('accounts:admin') },
    paths: [`/api/v1/auth/admin/users/${dan.user.id}`],
    credentialsWithoutScope: { operator: await tokenWith('ops:read') },
    values: {
      id: [viewedList.id, task.id],
      code: [await invitedList.codeFor(ann.email)],
      list: [viewedList.id],
      listId: [null, viewedList.id],
      assigneeId: [null],
      assignee: [ann.user.id],
      // The names of the Secure cookies, which are used on every host except localhost.
      Cookie: [
        ben.cookies
          .replaceAll('tasks_access', '__Host-tasks_access')
          .replaceAll('tasks_refresh', '__Host-tasks_refresh'),
      ],
      password: [password],
      currentPassword: [password],
      newPassword: [password],
      token: [confirmation, reset],
      email: [
        ann.email,
        ben.email,
        'cleo@example.test',
        'dan@example.test',
        'eve@example.test',
        'finn@example.test',
      ],
    },
    unreachable: [
      // With REQUIRE_VERIFIED_EMAIL.
      'login 403',
      'refresh 403',
      // Ann must wait after ten wrong passwords in a row. account.test.ts tests these.
      'changePassword 403',
      'reauthenticate 403',
      'requestEmailChange 403',
      'requestEmailChange success',
      // Dan's session ends with his account.
      'deleteAccount 400',
      'deleteAccount 403',
      // Ann has just entered her password. export.test.ts tests it.
      'exportAccount 403',
      // The change of Ann's password ended her other sessions. own-sessions.test.ts tests both.
      'getSession success',
      'deleteSession success',
    ],
  });
  expect(faults).toEqual([]);
});
