import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import supertest from 'supertest';
import { expect, test } from 'vitest';
import { at, bearerOf, endOverlap, register, startService } from '../../test/harness.ts';

type App = Parameters<typeof bearerOf>[0];

const refresh = (app: App, token: string) =>
  supertest(app).post(at('/auth/refresh')).set('Cookie', `tasks_refresh=${token}`);

const refreshTokenOf = (cookies: string): string => /tasks_refresh=([\w-]+)/.exec(cookies)?.[1] ?? '';
const nextTokenOf = (answer: supertest.Response): string => refreshTokenOf(String(answer.get('Set-Cookie')));

const isAccepted = async (app: App, answer: supertest.Response): Promise<boolean> =>
  (await bearerOf(app, String(answer.body.accessToken))('get', '/auth/check')).status === 200;

test('reuse of a token from several refreshes ago ends the session, also for the holder of the newest token', async () => {
  await using service = await startService();
  const { cookies } = await register(service.app);
  const stolen = refreshTokenOf(cookies);
  let newest = await refresh(service.app, stolen);
  for (let generation = 0; generation < 3; generation++)
    newest = await refresh(service.app, nextTokenOf(newest));
  expect(await isAccepted(service.app, newest)).toBe(true);
  expect((await refresh(service.app, stolen)).body.code).toBe('refresh_token_reused');
  expect(await isAccepted(service.app, newest)).toBe(false);
  expect((await refresh(service.app, nextTokenOf(newest))).body.code).toBe('invalid_refresh_token');
});

test('reuse of a token from two refreshes ago ends the session even within 30 seconds', async () => {
  await using service = await startService();
  const { cookies } = await register(service.app);
  const stolen = refreshTokenOf(cookies);
  const second = await refresh(service.app, stolen);
  const third = await refresh(service.app, nextTokenOf(second));
  expect((await refresh(service.app, stolen)).body.code).toBe('refresh_token_reused');
  expect(await isAccepted(service.app, third)).toBe(false);
});

test('when thief and owner have the same new token, the session ends as soon as both have used it', async () => {
  await using service = await startService();
  const { cookies } = await register(service.app);
  const [owner, thief] = [
    await refresh(service.app, refreshTokenOf(cookies)),
    await refresh(service.app, refreshTokenOf(cookies)),
  ];
  expect(nextTokenOf(thief)).toBe(nextTokenOf(owner));
  const ownersNext = await refresh(service.app, nextTokenOf(owner));
  await endOverlap(service);
  expect((await refresh(service.app, nextTokenOf(thief))).body.code).toBe('refresh_token_reused');
  expect(await isAccepted(service.app, ownersNext)).toBe(false);
});

test('logging out during a refresh leaves no valid token', async () => {
  await using service = await startService();
  await using other = await startService({ databaseUrl: service.databaseUrl });
  for (let round = 0; round < 10; round++) {
    const { cookies, as } = await register(service.app);
    const [, refreshed] = await Promise.all([
      as('get', '/auth/logout'),
      refresh(other.app, refreshTokenOf(cookies)),
    ]);
    if (refreshed.status !== 200) continue;
    expect(await isAccepted(service.app, refreshed)).toBe(false);
    expect((await refresh(service.app, nextTokenOf(refreshed))).status).toBe(401);
  }
});

/** Forges a token with the right ids of a session and a random rest. */
const forge = (token: string): string => {
  const bytes = Buffer.from(token, 'base64url');
  return Buffer.concat([bytes.subarray(0, 32), randomBytes(bytes.length - 32)]).toString('base64url');
};

test('a forged refresh token with the right ids neither refreshes nor ends the session, in refresh and in logout', async () => {
  await using service = await startService();
  const { cookies, as } = await register(service.app);
  const good = refreshTokenOf(cookies);
  const { status, body } = await refresh(service.app, forge(good));
  expect([status, body.code]).toEqual([401, 'invalid_refresh_token']);
  expect((await as('get', '/auth/check')).status).toBe(200);
  await supertest(service.app)
    .get(at('/auth/logout'))
    .set('Cookie', `tasks_refresh=${forge(good)}`)
    .expect(204);
  expect((await as('get', '/auth/check')).status).toBe(200);
  expect((await refresh(service.app, good)).status).toBe(200);
});

test('a network that sends many forged refresh tokens is refused before they are looked up', async () => {
  await using service = await startService({
    variables: { RATE_LIMIT: 'on', UNKNOWN_CREDENTIALS_PER_MINUTE: '5' },
  });
  const good = refreshTokenOf((await register(service.app)).cookies);
  const from = (address: string, token: string) =>
    refresh(service.app, token).set('X-Forwarded-For', address);
  const attacker = `2001:db8:${randomInt(65_536).toString(16)}::1`;
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++) {
    statuses.push((await from(attacker, forge(good))).status);
    const logout = supertest(service.app).get(at('/auth/logout')).set('X-Forwarded-For', attacker);
    statuses.push((await logout.set('Cookie', `tasks_refresh=${forge(good)}`)).status);
  }
  expect(statuses).toEqual([401, 204, 401, 204, 401, 429, 429, 429]);
  expect((await from('192.0.2.1', good)).status).toBe(200);
});

test('a network that sent many forged refresh tokens can still refresh its sessions', async () => {
  await using service = await startService({
    variables: { RATE_LIMIT: 'on', UNKNOWN_CREDENTIALS_PER_MINUTE: '2' },
  });
  const good = refreshTokenOf((await register(service.app)).cookies);
  const address = `2001:db8:${randomInt(65_536).toString(16)}::3`;
  const from = (token: string) => refresh(service.app, token).set('X-Forwarded-For', address);
  for (const expected of [401, 401, 429]) expect((await from(forge(good))).status).toBe(expected);
  expect((await from(good)).status).toBe(200);
});

test('logging out works from a network that sent many forged refresh tokens', async () => {
  await using service = await startService({
    variables: { RATE_LIMIT: 'on', UNKNOWN_CREDENTIALS_PER_MINUTE: '2' },
  });
  const { cookies, as } = await register(service.app);
  const address = `2001:db8:${randomInt(65_536).toString(16)}::2`;
  const forged = () => refresh(service.app, forge(refreshTokenOf(cookies))).set('X-Forwarded-For', address);
  for (const expected of [401, 401, 429]) expect((await forged()).status).toBe(expected);
  await supertest(service.app)
    .get(at('/auth/logout'))
    .set('X-Forwarded-For', address)
    .set('Cookie', `tasks_refresh=${refreshTokenOf(cookies)}`)
    .expect(204);
  expect((await as('get', '/auth/check')).status).toBe(401);
});

test('a token with swapped ids is not valid', async () => {
  await using service = await startService();
  const { cookies } = await register(service.app);
  const good = Buffer.from(refreshTokenOf(cookies), 'base64url');
  const swapped = Buffer.concat([good.subarray(16, 32), good.subarray(0, 16), good.subarray(32)]);
  expect((await refresh(service.app, swapped.toString('base64url'))).body.code).toBe('invalid_refresh_token');
});

test('logging out with a token that was used before ends the session, too', async () => {
  await using service = await startService();
  const { cookies } = await register(service.app);
  const used = refreshTokenOf(cookies);
  const newest = await refresh(service.app, used);
  await supertest(service.app).get(at('/auth/logout')).set('Cookie', `tasks_refresh=${used}`).expect(204);
  expect(await isAccepted(service.app, newest)).toBe(false);
});

test('after the signing key was replaced, a valid refresh token can still refresh and log out', async () => {
  await using service = await startService();
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = JSON.stringify(privateKey.export({ format: 'jwk' }));
  await using other = await startService({
    databaseUrl: service.databaseUrl,
    variables: { AUTH_SIGNING_KEY: key },
  });
  const [ada, eve] = [await register(service.app), await register(service.app)];
  expect((await refresh(other.app, refreshTokenOf(ada.cookies))).status).toBe(200);
  await supertest(other.app).get(at('/auth/logout')).set('Cookie', eve.cookies).expect(204);
  expect((await refresh(service.app, refreshTokenOf(eve.cookies))).status).toBe(401);
});
