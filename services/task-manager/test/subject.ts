import { randomUUID } from 'node:crypto';
import { call, type Arranged, type Place } from '@platform/openapi-tests/place';
import { send } from '@platform/openapi-tests/send';

/** The cookies of the services are named as on any host but localhost. */
const HOST = 'service.example.test';
/** That of the examples: ten wrong ones in a row would make the user wait. */
const PASSWORD = 'try-me-out-2026';

const register = async ({ url }: Place) => {
  const email = `${randomUUID()}@example.test`;
  const { status, headers, body } = await send(url, {
    method: 'post',
    target: '/api/v1/auth/register',
    headers: { Host: HOST, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD, name: 'Ada' }),
  });
  if (status !== 201) throw new Error(`a registration was answered with ${status}: ${body}`);
  const cookies = (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]).join('; ');
  return { email, cookies, token: (JSON.parse(body) as { accessToken: string }).accessToken };
};

/** Users with lists and tasks of their own, one of whom another one invites, and one who leaves. */
export const arrange = async (place: Place): Promise<Arranged> => {
  const ann = await register(place);
  // A refresh token works once and its second use ends the session, so refreshing needs another user.
  const ben = await register(place);
  const leaver = await register(place);
  const token = ({ target }: { target: string }) =>
    target.endsWith('/auth/me/delete') ? leaver.token : ann.token;
  const asBen = { ...place, token: ben.token };
  const { body: list } = await call(asBen, 'POST', '/api/v1/lists', { name: 'Exercise' });
  const path = `/api/v1/lists/${String(list['id'])}`;
  await call(asBen, 'PATCH', path, { members: { [ann.email]: { role: 'owner' } } });
  const { body: invitations } = await call(asBen, 'GET', `${path}/invitations`);
  const [code] = Object.values(invitations['codes'] as Record<string, string>);
  return {
    credentials: { bearer: token, cookie: token, operator: place.token },
    values: {
      Cookie: [ben.cookies],
      password: [PASSWORD],
      currentPassword: [PASSWORD],
      newPassword: [PASSWORD],
      email: [ann.email],
      code: [code],
      list: [undefined],
      listId: [null],
      assigneeId: [null],
    },
    unreachable: [
      // 409: no mail server is configured.
      'requestPasswordReset',
      'resetPassword',
      'requestEmailChange',
      'requestVerification',
      'confirmEmail',
      'sendPasswordReset',
      // The example of a session has ended with the change of the password.
      'getSession',
      'deleteSession',
    ].map((operation) => `${operation} success`),
  };
};
