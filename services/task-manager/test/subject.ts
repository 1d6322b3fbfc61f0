import { randomUUID } from 'node:crypto';
import { call, type ServiceSetup, type TestServer } from '@platform/openapi-tests/setup';
import { send } from '@platform/openapi-tests/send';

/** Host of the requests: on any host except localhost the cookies have their Secure names. */
const HOST = 'service.example.test';
/** The password in the examples: with another one, the user would have to wait after ten examples. */
const PASSWORD = 'try-me-out-2026';

const register = async ({ url }: TestServer) => {
  const email = `${randomUUID()}@example.test`;
  const { status, headers, body } = await send(url, {
    method: 'post',
    target: '/api/v1/auth/register',
    headers: { Host: HOST, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD, name: 'Ada' }),
  });
  if (status !== 201) throw new Error(`registration failed with status ${status}: ${body}`);
  const cookies = (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]).join('; ');
  return { email, cookies, token: (JSON.parse(body) as { accessToken: string }).accessToken };
};

/** Registers users: Ann, whom Ben invites to his list, and a user who deletes the account. */
export const setUp = async (server: TestServer): Promise<ServiceSetup> => {
  const ann = await register(server);
  // A refresh token works once and its second use ends the session, so refreshing needs another user.
  const ben = await register(server);
  const leaver = await register(server);
  const token = ({ target }: { target: string }) =>
    target.endsWith('/auth/me/delete') ? leaver.token : ann.token;
  const asBen = { ...server, token: ben.token };
  const { body: list } = await call(asBen, 'POST', '/api/v1/lists', { name: 'Exercise' });
  const path = `/api/v1/lists/${String(list['id'])}`;
  await call(asBen, 'PATCH', path, { members: { [ann.email]: { role: 'owner' } } });
  const { body: invitations } = await call(asBen, 'GET', `${path}/invitations`);
  const [code] = Object.values(invitations['codes'] as Record<string, string>);
  return {
    credentials: { bearer: token, cookie: token, operator: server.token },
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
      // The change of the password ended the session of the example.
      'getSession',
      'deleteSession',
    ].map((operation) => `${operation} success`),
  };
};
