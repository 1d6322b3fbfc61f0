import supertest from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  at,
  bearerOf,
  goodPassword,
  newEmail,
  register,
  startService,
  tokenWith,
} from '../../test/harness.ts';
import { startWithMail } from '../../test/mail-harness.ts';

type Operator = ReturnType<typeof bearerOf>;
let service: Awaited<ReturnType<typeof startWithMail>>;
/** Another replica, without a mail server. */
let other: Awaited<ReturnType<typeof startService>>;
let operator: Operator;
let operatorAtOther: Operator;
beforeAll(async () => {
  service = await startWithMail();
  other = await startService({ databaseUrl: service.databaseUrl });
  operator = bearerOf(service.app, await tokenWith('accounts:admin'));
  operatorAtOther = bearerOf(other.app, await tokenWith('accounts:admin'));
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

type User = Awaited<ReturnType<typeof register>>;
const pathOf = ({ user }: User, action = ''): string => `/auth/admin/users/${user.id}${action}`;
const login = (email: string, password = goodPassword) =>
  supertest(other.app).post(at('/auth/login')).send({ email, password });
const unknownUserPath = '/auth/admin/users/01900000-0000-7000-8000-000000000000';

/** The operations that need a user. */
const operations = [
  ['get', ''],
  ['get', '/security-events'],
  ['post', '/lock'],
  ['post', '/unlock'],
  ['post', '/password-reset'],
  ['delete', '/sessions'],
] as const;

test('an operator finds an account by its address and reads it, without secrets', async () => {
  const ada = await register(service.app);
  const { body } = await operator('get', `/auth/admin/users?email=${ada.email.toUpperCase()}`).expect(200);
  expect(body.users).toEqual([{ ...ada.user, lockedAt: null, deletionAt: null, sessions: 1 }]);
  expect((await operator('get', pathOf(ada))).body).toEqual(body.users[0]);
  expect((await operator('get', `/auth/admin/users?email=${newEmail()}`)).body).toEqual({ users: [] });
  const events = await operator('get', pathOf(ada, '/security-events')).expect(200);
  expect(events.body).toEqual((await ada.as('get', '/auth/security-events')).body);
});

test('users and operators without the scope are refused, and an unknown user is 404', async () => {
  const ada = await register(service.app);
  const withoutScope = bearerOf(service.app, await tokenWith('ops:read'));
  for (const [method, action] of operations) {
    expect((await ada.as(method, pathOf(ada, action))).status).toBe(401);
    expect((await withoutScope(method, pathOf(ada, action))).status).toBe(403);
    expect((await operator(method, `${unknownUserPath}${action}`)).status).toBe(404);
  }
  expect((await ada.as('get', `/auth/admin/users?email=${ada.email}`)).status).toBe(401);
  expect((await ada.as('get', '/auth/check')).status).toBe(200);
});

test('the log records the operator and the user of each call, without the address', async () => {
  const ada = await register(service.app);
  const from = service.lines.length;
  for (const [method, action] of operations) await operator(method, pathOf(ada, action));
  await operator('get', `/auth/admin/users?email=${ada.email}`);
  const lines = service.lines.slice(from).filter((line) => line.includes('account operation'));
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(entries.map(({ operation, userId }) => [operation, userId])).toEqual([
    ['getUser', ada.user.id],
    ['listUserSecurityEvents', ada.user.id],
    ['lockUser', ada.user.id],
    ['unlockUser', ada.user.id],
    ['sendPasswordReset', ada.user.id],
    ['endUserSessions', ada.user.id],
    ['findUsers', ada.user.id],
  ]);
  for (const { operator: subject } of entries) expect(subject).toEqual(expect.stringMatching(/./));
  expect(lines.join('')).not.toContain(ada.email);
});

test('locking an account ends its sessions everywhere at once, and only a login with the right password reveals the lock', async () => {
  const ada = await register(service.app);
  await operatorAtOther('post', pathOf(ada, '/lock')).expect(204);
  expect((await ada.as('get', '/tasks')).status).toBe(401);
  expect((await supertest(service.app).post(at('/auth/refresh')).set('Cookie', ada.cookies)).status).toBe(
    401,
  );
  const right = await login(ada.email);
  expect([right.status, right.body.code]).toEqual([403, 'account_locked']);
  const comparable = ({ status, body }: supertest.Response) => [status, { ...body, requestId: '' }];
  const wrong = await login(ada.email, 'a wrong guess');
  expect(comparable(wrong)).toEqual(comparable(await login(newEmail(), 'a wrong guess')));
  expect((await operator('get', pathOf(ada))).body).toMatchObject({ sessions: 0 });
  await operator('post', pathOf(ada, '/unlock')).expect(204);
  const { body } = await login(ada.email).expect(200);
  const { events } = (await bearerOf(other.app, String(body.accessToken))('get', '/auth/security-events'))
    .body;
  for (const kind of ['locked', 'unlocked'])
    expect(events).toContainEqual(
      expect.objectContaining({ kind, network: 'operator', browser: 'operator' }),
    );
});

test('a login concurrent with a lock leaves no session', async () => {
  const { sql } = service.context.database;
  for (let round = 0; round < 8; round++) {
    const ada = await register(service.app);
    await Promise.all([login(ada.email), operator('post', pathOf(ada, '/lock')).expect(204)]);
    expect(await sql`select from sessions where user_id = ${ada.user.id}`).toHaveLength(0);
  }
});

test('an operator ends all sessions and mails a reset code; resetting the password does not unlock the account', async () => {
  const ada = await register(service.app);
  await operator('delete', pathOf(ada, '/sessions')).expect(204);
  expect((await bearerOf(other.app, ada.token)('get', '/auth/check')).status).toBe(401);
  expect((await operatorAtOther('post', pathOf(ada, '/password-reset'))).body.code).toBe('mail_off');
  await operator('post', pathOf(ada, '/lock')).expect(204);
  await operator('post', pathOf(ada, '/password-reset')).expect(204);
  const { code: token } = await service.lastMailTo(ada.email, 2);
  const newPassword = 'a much better phrase';
  await supertest(service.app)
    .post(at('/auth/password/reset/confirm'))
    .send({ token, newPassword })
    .expect(204);
  expect((await login(ada.email, newPassword)).body.code).toBe('account_locked');
  await operator('post', pathOf(ada, '/unlock')).expect(204);
  await login(ada.email, newPassword).expect(200);
});
