import supertest from 'supertest';
import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { at, endOverlap, goodPassword, newEmail, register, startService } from '../../test/harness.ts';

type App = Parameters<typeof supertest>[0];

const refresh = (app: App, cookies: string) =>
  supertest(app).post(at('/auth/refresh')).set('Cookie', cookies);

const cookiesOf = (answer: supertest.Response): string =>
  (answer.get('Set-Cookie') ?? []).map((line) => line.split(';', 1)[0]).join('; ');

const check = (app: App, token: string) =>
  supertest(app).get(at('/auth/check')).auth(token, { type: 'bearer' });

const minutes = (count: number) => count * 60_000;

/** Starts a service whose time the test can advance: its clock, and the expiry of its sessions in the database. */
const startWithClock = async () => {
  let clockOffset = 0;
  const service = await startService({ overrides: { now: () => new Date(Date.now() + clockOffset) } });
  return Object.assign(service, {
    advance: async (ms: number) => {
      clockOffset += ms;
      await service.context.database.sql`
        update sessions set expires_at = expires_at - make_interval(secs => ${ms / 1000})`;
    },
  });
};

test('a user has at most 1,000 sessions: a further one ends the oldest', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const email = newEmail();
  const [ada, ben] = [await register(service.app, email), await register(service.app)];
  // UUIDs of the same generator as in the service: after a test has moved the clock forward, it never goes back.
  await sql`
    insert into sessions (user_id, id, refresh_hash, browser, network, created_at, authenticated_at, last_used_at, expires_at)
    select ${ada.user.id}, id, '\\x00', '', '', now(), now(), now(), now() + interval '1 day'
    from unnest(${Array.from({ length: 999 }, () => v7())}::uuid[]) as id`;
  await supertest(service.app).post(at('/auth/login')).send({ email, password: goodPassword }).expect(200);
  const counts = await sql`select count(*)::int from sessions group by user_id order by count`;
  expect(counts.map(({ count }) => count as number)).toEqual([1, 1000]);
  expect((await refresh(service.app, ada.cookies)).status).toBe(401);
  expect((await refresh(service.app, ben.cookies)).status).toBe(200);
});

test('a user has at most 100 known networks: a further one replaces the oldest', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const email = newEmail();
  const [ada] = [await register(service.app, email), await register(service.app)];
  await sql`
    insert into known_networks (user_id, network, seen_at)
    select ${ada.user.id}, 'network ' || n, now() - n * interval '1 hour' from generate_series(2, 101) n`;
  await sql`update known_networks set seen_at = now() - interval '2 days' where network not like 'network %'`;
  await supertest(service.app).post(at('/auth/login')).send({ email, password: goodPassword }).expect(200);
  const networks = await sql`
    select count(*)::int, count(*) filter (where network = 'network 101')::int as oldest, count(*) filter (where seen_at > now() - interval '1 minute')::int as new
    from known_networks group by user_id order by count`;
  expect(networks).toEqual([
    { count: 1, oldest: 0, new: 0 },
    { count: 100, oldest: 0, new: 1 },
  ]);
});

describe('checking', () => {
  test('returns the user and the expiry, for a token and for a cookie', async () => {
    await using service = await startService();
    const { token, cookies, user, answer } = await register(service.app);
    const byToken = await check(service.app, token);
    expect([byToken.status, byToken.body]).toEqual([200, { user, expiresAt: answer.body.expiresAt }]);
    expect(byToken.headers['cache-control']).toBe('no-store');
    const byCookie = await supertest(service.app).get(at('/auth/check')).set('Cookie', cookies);
    expect(byCookie.body).toEqual(byToken.body);
  });

  test('refuses requests without a credential and cookies in requests from another site', async () => {
    await using service = await startService();
    const { cookies } = await register(service.app);
    expect((await supertest(service.app).get(at('/auth/check'))).status).toBe(401);
    const foreign = await supertest(service.app)
      .get(at('/auth/check'))
      .set({ Cookie: cookies, 'Sec-Fetch-Site': 'cross-site' });
    expect(foreign.status).toBe(401);
  });

  test('fails after 15 minutes, when the access token has expired', async () => {
    await using service = await startWithClock();
    const { token } = await register(service.app);
    await service.advance(minutes(14));
    expect((await check(service.app, token)).status).toBe(200);
    await service.advance(minutes(2));
    expect((await check(service.app, token)).status).toBe(401);
  });
});

describe('logging out', () => {
  test('ends the session on every instance at once', async () => {
    await using service = await startService();
    await using other = await startService({ databaseUrl: service.databaseUrl });
    const { token, as } = await register(service.app);
    expect((await check(other.app, token)).status).toBe(200);
    const { status, headers, text } = await as('get', '/auth/logout');
    expect([status, headers['cache-control'], text]).toEqual([204, 'no-store', '']);
    expect((await check(other.app, token)).status).toBe(401);
    expect((await check(service.app, token)).status).toBe(401);
  });

  test('does not end other sessions of the user', async () => {
    await using service = await startService();
    const { email, as } = await register(service.app);
    const second = await supertest(service.app)
      .post(at('/auth/login'))
      .send({ email, password: goodPassword });
    await as('get', '/auth/logout');
    expect((await check(service.app, String(second.body.accessToken))).status).toBe(200);
  });

  test('ends a session with its refresh cookie alone, and deletes the cookies', async () => {
    await using service = await startWithClock();
    const { cookies } = await register(service.app);
    await service.advance(minutes(20));
    const answer = await supertest(service.app).get(at('/auth/logout')).set('Cookie', cookies);
    expect(answer.status).toBe(204);
    expect(answer.get('Set-Cookie')).toEqual([
      expect.stringMatching(/^tasks_access=; Max-Age=0;/),
      expect.stringMatching(/^tasks_refresh=; Max-Age=0;/),
    ]);
    expect((await refresh(service.app, cookies)).body.code).toBe('invalid_refresh_token');
  });

  test('has the same response with valid, invalid and missing credentials', async () => {
    await using service = await startService();
    const { as } = await register(service.app);
    const get = supertest(service.app).get.bind(supertest(service.app));
    const answers = [
      await get(at('/auth/logout')),
      await get(at('/auth/logout')).set('Authorization', 'Bearer nonsense'),
      await get(at('/auth/logout')).set('Cookie', 'tasks_access=x; tasks_refresh=y'),
      await as('get', '/auth/logout'),
      await as('get', '/auth/logout'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
  });

  test('cannot be caused by another site', async () => {
    await using service = await startService();
    const { cookies } = await register(service.app);
    const foreign = await supertest(service.app)
      .get(at('/auth/logout'))
      .set({ Cookie: cookies, 'Sec-Fetch-Site': 'cross-site' });
    expect([foreign.status, foreign.get('Set-Cookie')]).toEqual([204, undefined]);
    expect((await refresh(service.app, cookies)).status).toBe(200);
  });
});

describe('refreshing', () => {
  test('returns new credentials of the same session', async () => {
    await using service = await startWithClock();
    const { cookies, user } = await register(service.app);
    await service.advance(minutes(20));
    const { status, body, headers } = await refresh(service.app, cookies);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body).toEqual({ user, accessToken: expect.any(String), expiresAt: expect.any(String) });
    expect((await check(service.app, String(body.accessToken))).status).toBe(200);
  });

  test('is possible for 30 days after the last refresh', async () => {
    await using service = await startWithClock();
    const { cookies } = await register(service.app);
    await service.advance(minutes(29 * 24 * 60));
    const second = await refresh(service.app, cookies);
    await service.advance(minutes(29 * 24 * 60));
    const third = await refresh(service.app, cookiesOf(second));
    expect([second.status, third.status]).toEqual([200, 200]);
    await service.advance(minutes(30 * 24 * 60 + 1));
    const late = await refresh(service.app, cookiesOf(third));
    expect([late.status, late.body.code]).toEqual([401, 'invalid_refresh_token']);
  });

  test('with the previous token returns valid credentials of the same session for 30 seconds', async () => {
    await using service = await startService();
    await using other = await startService({ databaseUrl: service.databaseUrl });
    const { cookies } = await register(service.app);
    const first = await refresh(service.app, cookies);
    await service.context.database.sql`
      update sessions set rotated_at = rotated_at - interval '25 seconds'`;
    const again = await refresh(other.app, cookies);
    expect([first.status, again.status, again.body.user]).toEqual([200, 200, first.body.user]);
    for (const { body } of [first, again])
      expect((await check(service.app, String(body.accessToken))).status).toBe(200);
    const next = await refresh(other.app, cookiesOf(again));
    expect([next.status, (await refresh(service.app, cookiesOf(first))).status]).toEqual([200, 200]);
  });

  test('with the previous token does not extend the session or the 30 seconds', async () => {
    await using service = await startWithClock();
    const { cookies } = await register(service.app);
    await refresh(service.app, cookies);
    const readSessions = () =>
      service.context.database.sql`select rotated_at, expires_at, refresh_hash from sessions`;
    const before = await readSessions();
    expect((await refresh(service.app, cookies)).status).toBe(200);
    expect(await readSessions()).toEqual(before);
  });

  test('with the previous token after 30 seconds ends the session', async () => {
    await using service = await startService();
    const { cookies } = await register(service.app);
    const good = await refresh(service.app, cookies);
    await endOverlap(service);
    const again = await refresh(service.app, cookies);
    expect([again.status, again.body.code]).toEqual([401, 'refresh_token_reused']);
    expect(again.get('Set-Cookie')).toHaveLength(2);
    expect((await check(service.app, String(good.body.accessToken))).status).toBe(401);
    expect((await refresh(service.app, cookiesOf(good))).status).toBe(401);
  });

  test('with one token works for all of several simultaneous requests on several instances', async () => {
    await using service = await startService();
    await using other = await startService({ databaseUrl: service.databaseUrl });
    const { cookies } = await register(service.app);
    const apps = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? service.app : other.app));
    const answers = await Promise.all(apps.map((app) => refresh(app, cookies)));
    expect(answers.map(({ status }) => status)).toEqual(apps.map(() => 200));
    for (const { body } of answers)
      expect((await check(other.app, String(body.accessToken))).status).toBe(200);
    expect(new Set(answers.map((answer) => /tasks_refresh=[\w-]+/.exec(cookiesOf(answer))?.[0])).size).toBe(
      1,
    );
    const { length } = await service.context.database.sql`select from sessions`;
    expect(length).toBe(1);
  });

  test('changes nothing if the user cannot be read: the same token works afterwards', async () => {
    await using service = await startService();
    const { cookies } = await register(service.app);
    const { sql } = service.context.database;
    const before = await sql`select * from sessions`;
    await sql`alter table users rename to unreadable`;
    expect((await refresh(service.app, cookies)).status).toBe(500);
    await sql`alter table unreadable rename to users`;
    expect(await sql`select * from sessions`).toEqual(before);
    expect((await refresh(service.app, cookies)).status).toBe(200);
  });

  test('requires a refresh cookie; a token in a header or a request from another site is refused', async () => {
    await using service = await startService();
    const { cookies, as } = await register(service.app);
    const answers = [
      await refresh(service.app, ''),
      await as('post', '/auth/refresh'),
      await refresh(service.app, 'tasks_refresh=abc'),
      await refresh(service.app, cookies).set('Sec-Fetch-Site', 'cross-site'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect((await refresh(service.app, cookies)).status).toBe(200);
  });
});

test('a reused token of an expired session that is not deleted yet counts as invalid, and logging out works', async () => {
  await using service = await startWithClock();
  const { cookies } = await register(service.app);
  await refresh(service.app, cookies);
  await service.advance(minutes(31 * 24 * 60));
  await endOverlap(service);
  expect((await refresh(service.app, cookies)).body.code).toBe('invalid_refresh_token');
  expect((await supertest(service.app).get(at('/auth/logout')).set('Cookie', cookies)).status).toBe(204);
});
