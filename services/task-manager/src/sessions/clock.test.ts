import supertest from 'supertest';
import { expect, onTestFinished, test, vi } from 'vitest';
import { at, bearerOf, goodPassword, register, startService } from '../../test/harness.ts';

type App = Parameters<typeof bearerOf>[0];

const dayMs = 86_400_000;

/** Moves the clock of the application (`Date` in this process). Timers and the clock of the database stay correct. */
const moveClock = (days: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * dayMs });
  onTestFinished(() => void vi.useRealTimers());
};

const login = (app: App, email: string, password = goodPassword) =>
  supertest(app).post(at('/auth/login')).send({ email, password });
const refresh = (app: App, cookies: string) =>
  supertest(app).post(at('/auth/refresh')).set('Cookie', cookies);

const jumpDays = [40, -40];

test.each(jumpDays)(
  'a clock that jumps by %i days neither ends nor deletes sessions, and new sessions have the usual duration',
  async (days) => {
    await using service = await startService();
    const { app, context } = service;
    const { email, cookies, user } = await register(app);
    const { cookies: untouched } = await register(app);
    moveClock(days);
    const refreshed = await refresh(app, cookies);
    expect(refreshed.status).toBe(200);
    const check = bearerOf(app, String(refreshed.body.accessToken));
    expect((await check('get', '/auth/check')).status).toBe(200);
    expect((await login(app, email)).status).toBe(200);
    const rows = await context.database.sql`
      select extract(days from expires_at - now())::int as days_left from sessions where user_id = ${user.id}`;
    expect(rows.map(({ days_left }) => days_left)).toEqual([29, 29]);
    vi.useRealTimers();
    expect((await refresh(app, untouched)).status).toBe(200);
  },
);

test.each(jumpDays)('a clock that jumps by %i days deletes no idempotency key', async (days) => {
  await using service = await startService();
  const { email, as } = await register(service.app);
  const first = await as('post', '/tasks').set('Idempotency-Key', 'k1').send({ title: 'Once' });
  moveClock(days);
  const { body } = await login(service.app, email);
  const again = await bearerOf(service.app, String(body.accessToken))('post', '/tasks')
    .set('Idempotency-Key', 'k1')
    .send({ title: 'Once' });
  expect([again.status, again.body.id]).toEqual([201, first.body.id]);
});

test.each(jumpDays)('a clock that jumps by %i days deletes no known network', async (days) => {
  await using service = await startService();
  const { email, user } = await register(service.app);
  const { sql } = service.context.database;
  await sql`insert into known_networks values (${user.id}, '198.51.100.0', now() - interval '60 days')`;
  moveClock(days);
  await login(service.app, email);
  expect(await sql`select from known_networks where user_id = ${user.id}`).toHaveLength(2);
});

test.each(jumpDays)('a clock that jumps by %i days does not let a blocked login try again', async (days) => {
  await using service = await startService();
  const { email } = await register(service.app);
  for (let failure = 0; failure < 10; failure++) await login(service.app, email, 'wrong password');
  expect((await login(service.app, email)).status).toBe(429);
  moveClock(days);
  expect((await login(service.app, email)).status).toBe(429);
});

test.each([50, -50])(
  'an access token is valid on an instance whose clock differs by %i seconds, but not more than a minute after it expires',
  async (seconds) => {
    await using service = await startService();
    let offsetSeconds = seconds;
    await using other = await startService({
      databaseUrl: service.databaseUrl,
      overrides: { now: () => new Date(Date.now() + offsetSeconds * 1000) },
    });
    const { token } = await register(service.app);
    const check = async () => (await bearerOf(other.app, token)('get', '/auth/check')).status;
    expect(await check()).toBe(200);
    offsetSeconds = 15 * 60 + 61;
    expect(await check()).toBe(401);
  },
);
