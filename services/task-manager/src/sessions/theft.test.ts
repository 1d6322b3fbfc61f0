import { randomBytes } from 'node:crypto';
import supertest from 'supertest';
import { expect, test } from 'vitest';
import { at, bearerOf, goodPassword, register, startInstance, startService } from '../../test/harness.ts';

type App = Parameters<typeof bearerOf>[0];

const refresh = (app: App, token: string) =>
  supertest(app).post(at('/auth/refresh')).set('Cookie', `tasks_refresh=${token}`);

const refreshTokenOf = (cookies: string): string => /tasks_refresh=([\w-]+)/.exec(cookies)?.[1] ?? '';
const nextOf = (answer: supertest.Response): string => refreshTokenOf(String(answer.get('Set-Cookie')));

const works = async (app: App, answer: supertest.Response): Promise<boolean> =>
  (await bearerOf(app, String(answer.body.accessToken))('get', '/auth/check')).status === 200;

test('a token from generations ago ends the session of whoever holds its newest descendant', async () => {
  await using service = await startService();
  const { cookies } = await register(service.app);
  const stolen = refreshTokenOf(cookies);
  let newest = await refresh(service.app, stolen);
  for (let generation = 0; generation < 3; generation++) newest = await refresh(service.app, nextOf(newest));
  expect(await works(service.app, newest)).toBe(true);
  expect((await refresh(service.app, stolen)).body.code).toBe('refresh_token_reused');
  expect(await works(service.app, newest)).toBe(false);
  expect((await refresh(service.app, nextOf(newest))).body.code).toBe('invalid_refresh_token');
});

test('one token used at two instances at the same instant: once at most, and the session is over', async () => {
  await using service = await startService();
  await using other = await startInstance(service.variables);
  for (let round = 0; round < 10; round++) {
    const { cookies } = await register(service.app);
    const token = refreshTokenOf(cookies);
    const answers = await Promise.all([service.app, other.app].map((app) => refresh(app, token)));
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    for (const winner of winners) expect(await works(other.app, winner)).toBe(false);
  }
});

test('logging out while a refresh is on its way leaves nothing that works', async () => {
  await using service = await startService();
  await using other = await startInstance(service.variables);
  for (let round = 0; round < 10; round++) {
    const { cookies, as } = await register(service.app);
    const [, refreshed] = await Promise.all([
      as('get', '/auth/logout'),
      refresh(other.app, refreshTokenOf(cookies)),
    ]);
    if (refreshed.status !== 200) continue;
    expect(await works(service.app, refreshed)).toBe(false);
    expect((await refresh(service.app, nextOf(refreshed))).status).toBe(401);
  }
});

test('ids of a session with a secret that was made up give nothing, and nothing of anybody else is touched', async () => {
  await using service = await startService();
  const { cookies, email } = await register(service.app);
  const good = Buffer.from(refreshTokenOf(cookies), 'base64url');
  const elsewhere = await supertest(service.app)
    .post(at('/auth/login'))
    .send({ email, password: goodPassword });
  const madeUp = Buffer.concat([good.subarray(0, 32), randomBytes(32)]).toString('base64url');
  const { status, body } = await refresh(service.app, madeUp);
  expect([status, body.accessToken]).toEqual([401, undefined]);
  expect(await works(service.app, elsewhere)).toBe(true);
  const swapped = Buffer.concat([good.subarray(16, 32), good.subarray(0, 16), good.subarray(32)]);
  expect((await refresh(service.app, swapped.toString('base64url'))).body.code).toBe('invalid_refresh_token');
});
