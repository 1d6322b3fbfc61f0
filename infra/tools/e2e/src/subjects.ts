import { randomUUID } from 'node:crypto';
import { send } from '@platform/openapi-tests/send';
import { call, type Arranged, type Place } from './subjects/place.ts';
import { storeWebhooks } from './subjects/store-webhooks.ts';
import { walletOperator } from './subjects/wallet-operator.ts';

export type { Place } from './subjects/place.ts';

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

const taskManager = async (place: Place): Promise<Arranged> => {
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

const questService = async (place: Place): Promise<Arranged> => {
  const questions = [
    {
      questionId: 'known',
      type: 'OPEN_TEXT',
      presentation: 'VERTICAL',
      titles: [{ languageCode: 'en-US', title: 'Why?' }],
    },
  ];
  // Several, because other operations replace some of the lists.
  const paths = [1, 2, 3, 4].map(async () => {
    const { body } = await call(place, 'POST', '/v1/quests', { title: 'With a draft' });
    const quest = `/v1/quests/${String(body['questId'])}`;
    await call(place, 'PUT', `${quest}/questions`, questions);
    await call(place, 'PUT', `${quest}/questions?draft=true`, questions);
    return [`${quest}/questions/known`, `${quest}/draft`];
  });
  return {
    credentials: { bearer: place.token },
    values: { orderNumber: [undefined], questionId: [undefined], alternativeId: [undefined] },
    paths: (await Promise.all(paths)).flat(),
  };
};

const verifyProjects = async (place: Place): Promise<Arranged> => {
  for (const code of ['en', 'de', 'fr'])
    await call(place, 'PUT', `/v1/languages/${code}`, { name: code, native_name: code, direction: 'ltr' });
  const { body } = await call(place, 'POST', '/v1/api-keys', { name: 'exercise', scopes: ['verify:read'] });
  return {
    credentials: { apiKey: String(body['key']), bearer: place.token },
    values: { code: ['en', 'de', 'fr'], language: ['de', 'fr'], source_language: ['en'], due_at: [null] },
  };
};

const consignments = async (place: Place): Promise<Arranged> => ({ credentials: { bearer: place.token } });

const arrangements: Record<string, (place: Place) => Promise<Arranged>> = {
  'task-manager': taskManager,
  'quest-service': questService,
  'store-webhooks': storeWebhooks,
  'wallet-operator': walletOperator,
  'verify-projects': verifyProjects,
  consignments,
};

/** Creates in a service what its operations need, and says how they are called. A service that is not listed needs a token only. */
export const arrange = async (service: string, place: Place): Promise<Arranged> =>
  (await arrangements[service]?.(place)) ?? { credentials: { bearer: place.token } };
