import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, goodPassword, register, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ada: Awaited<ReturnType<typeof register>>;
let task: string;
beforeAll(async () => {
  service = await startService();
  ada = await register(service.app);
  task = `/tasks/${(await ada.as('post', '/tasks').send({ title: 'Untouched' })).body.id}`;
});
afterAll(() => service[Symbol.asyncDispose]());

type Method = 'get' | 'post' | 'patch' | 'delete';

/** A request with the cookies of a user who is logged in. */
const withCookies = (method: Method, path: string, headers: Record<string, string> = {}) => {
  const browser = supertest(service.app);
  return browser[method](at(path)).set({ Cookie: ada.cookies, ...headers });
};

test('an access cookie works for every operation that accepts an access token', async () => {
  const created = await withCookies('post', '/tasks').send({ title: 'By cookie' });
  expect(created.status).toBe(201);
  const path = `/tasks/${created.body.id}`;
  expect((await withCookies('patch', path).send({ title: 'Changed' })).status).toBe(200);
  expect((await withCookies('delete', path)).status).toBe(204);
});

describe('a page of another origin, in a browser that is logged in,', () => {
  describe.each<Record<string, string>>([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://other.example' },
    { Origin: 'null' },
  ])('with %j', (foreign) => {
    test.each<[Method, string, object | undefined]>([
      ['get', '/tasks', undefined],
      ['post', '/tasks', { title: 'Smuggled' }],
      ['patch', '', { title: 'Smuggled' }],
      ['delete', '', undefined],
      ['post', '/auth/refresh', undefined],
    ])('cannot %s %s', async (method, path, body) => {
      const { status } = await withCookies(method, path || task, foreign).send(body);
      expect(status).toBe(401);
    });

    test('cannot log the user out', async () => {
      const answer = await withCookies('get', '/auth/logout', foreign);
      expect([answer.status, answer.get('Set-Cookie')]).toEqual([204, undefined]);
      expect((await ada.as('get', '/auth/check')).status).toBe(200);
    });
  });

  test.each([
    ['text/plain', '{"title":"Smuggled"}'],
    ['application/x-www-form-urlencoded', 'title=Smuggled'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nx\r\n--x--',
    ],
    ['', '{"title":"Smuggled"}'],
  ])(
    'cannot send a form of type %s, even when the browser does not send Sec-Fetch-Site or Origin',
    async (type, body) => {
      const { status } = await withCookies('post', '/tasks', { 'Content-Type': type }).send(body);
      expect(status).toBe(415);
    },
  );

  test('gets no CORS permission from a preflight request', async () => {
    const { status, headers } = await supertest(service.app)
      .options(at('/tasks'))
      .set({ Origin: 'https://other.example', 'Access-Control-Request-Method': 'POST' });
    expect(status).toBe(204);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('cannot log the browser in as another user', async () => {
    const eve = await register(service.app);
    const body = JSON.stringify({ email: eve.email, password: goodPassword });
    for (const path of ['/auth/login', '/auth/register']) {
      const answer = await withCookies('post', path, { 'Content-Type': 'text/plain' }).send(body);
      expect([answer.status, answer.get('Set-Cookie')]).toEqual([415, undefined]);
    }
  });
});

test('two cookies of the same name, one set by another host of the domain, authenticate nobody', async () => {
  const eve = await register(service.app);
  const { status } = await supertest(service.app)
    .get(at('/auth/check'))
    .set('Cookie', `${eve.cookies}; ${ada.cookies}`);
  expect(status).toBe(401);
});

const pairOf = (cookies: string, name: string): string =>
  cookies.split('; ').find((pair) => pair.startsWith(`${name}=`)) ?? '';

test('the refresh cookie of another session, planted beside the access cookie, is refused and ends nothing', async () => {
  const eve = await register(service.app);
  const planted = `${pairOf(ada.cookies, 'tasks_access')}; ${pairOf(eve.cookies, 'tasks_refresh')}`;
  const refresh = (cookies: string) =>
    supertest(service.app).post(at('/auth/refresh')).set('Cookie', cookies);
  const { status, body, headers } = await refresh(planted);
  expect([status, body.code]).toEqual([401, 'invalid_refresh_token']);
  expect(headers['set-cookie']).toHaveLength(2);
  for (const user of [ada, eve]) expect((await user.as('get', '/auth/check')).status).toBe(200);
  expect((await refresh(eve.cookies)).body.user).toEqual(eve.user);
});

test('the refresh cookie is accepted only for refreshing and logging out', async () => {
  const cookies = pairOf((await register(service.app)).cookies, 'tasks_refresh');
  for (const path of ['/auth/check', '/tasks', task]) {
    const { status } = await supertest(service.app).get(at(path)).set('Cookie', cookies);
    expect([path, status]).toEqual([path, 401]);
  }
});

test('on an HTTPS host both cookies have the __Host- prefix, so that no other host can plant them', async () => {
  const answer = await supertest(service.app)
    .post(at('/auth/login'))
    .set('Host', 'tasks.example.test')
    .send({ email: ada.email, password: goodPassword });
  expect(answer.get('Set-Cookie')?.map((line) => line.replace(/=[^;]*/, ''))).toEqual([
    '__Host-tasks_access; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax',
    '__Host-tasks_refresh; Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Lax',
  ]);
});

test('none of these requests changed anything', async () => {
  const { body } = await ada.as('get', '/tasks');
  expect(body.tasks).toMatchObject([{ title: 'Untouched', version: 1 }]);
});
