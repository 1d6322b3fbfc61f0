import supertest from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { at, endOverlap, goodPassword, newEmail, register, startService } from '../../test/harness.ts';

type Service = Awaited<ReturnType<typeof startService>>;
let service: Service;
/** Another replica. */
let other: Service;
beforeAll(async () => {
  service = await startService({ variables: { TRUST_PROXY: 'loopback', REDIS_URL: '' } });
  other = await startService({ databaseUrl: service.databaseUrl });
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const login = (email: string, password = goodPassword, address = '192.0.2.7', app = service.app) =>
  supertest(app).post(at('/auth/login')).set('X-Forwarded-For', address).send({ email, password });

type User = Awaited<ReturnType<typeof register>>;
interface Event {
  kind: string;
  network: string;
  browser: string;
  count: number;
  firstAt: string;
  lastAt: string;
}
const eventsOf = async ({ as }: User): Promise<Event[]> =>
  (await as('get', '/auth/security-events?limit=200').expect(200)).body.events;
const countOf = async (user: User, kind: string): Promise<number> =>
  (await eventsOf(user)).filter((event) => event.kind === kind).reduce((sum, { count }) => sum + count, 0);

test('a user sees logins, failures and changes, newest first; equal events of a day are one entry with a count', async () => {
  const [ada, ben] = [await register(service.app), await register(service.app)];
  for (let n = 0; n < 3; n++) await login(ada.email).expect(200);
  await login(ada.email, 'a wrong guess', '2001:db8:7::1').expect(401);
  await expect.poll(() => countOf(ada, 'login_failed')).toBe(1);
  const change = { currentPassword: goodPassword, newPassword: 'a much better phrase' };
  await ada
    .as('post', '/auth/password')
    .send({ ...change, currentPassword: 'no' })
    .expect(403);
  await expect.poll(() => countOf(ada, 'password_failed')).toBe(1);
  await ada.as('post', '/auth/password').send(change).expect(204);
  const events = await eventsOf(ada);
  expect(events.map(({ kind, network, count }) => [kind, network, count])).toEqual([
    ['password_changed', '127.0.0.1', 1],
    ['password_failed', '127.0.0.1', 1],
    ['login_failed', '2001:db8:7::/64', 1],
    ['login', '192.0.2.7', 3],
    ['registered', '127.0.0.1', 1],
  ]);
  expect(events[3]).toMatchObject({ browser: 'Unknown browser on unknown system' });
  expect(events[3]?.firstAt).not.toBe(events[3]?.lastAt);
  expect((await eventsOf(ben)).map(({ kind }) => kind)).toEqual(['registered']);
  expect((await supertest(service.app).get(at('/auth/security-events'))).status).toBe(401);
});

test('ended sessions and a reused refresh token are recorded by every replica', async () => {
  const ada = await register(service.app);
  const elsewhere = await login(ada.email, goodPassword, '192.0.2.8', other.app);
  const refresh = () =>
    supertest(other.app)
      .post(at('/auth/refresh'))
      .set('Cookie', (elsewhere.get('Set-Cookie') ?? []).map((line) => line.split(';', 1)[0]).join('; '));
  await refresh().expect(200);
  await endOverlap(service);
  expect((await refresh()).body.code).toBe('refresh_token_reused');
  await login(ada.email).expect(200);
  const [{ id }] = (await ada.as('get', '/auth/sessions')).body.sessions;
  await ada.as('delete', `/auth/sessions/${id}`).expect(204);
  await ada.as('delete', '/auth/sessions').expect(204);
  const kinds = (await eventsOf(ada)).map(({ kind }) => kind);
  expect(kinds.slice(0, 2)).toEqual(['other_sessions_ended', 'session_ended']);
  expect(kinds).toContain('refresh_token_reused');
});

test('an attacker with many networks neither fills the disk nor displaces the events of the owner', async () => {
  const ada = await register(service.app);
  for (let n = 1; n <= 40; n++) await login(ada.email, 'a wrong guess', `198.51.100.${n}`).expect(401);
  await expect.poll(() => countOf(ada, 'login_failed')).toBe(40);
  const events = await eventsOf(ada);
  const failed = events.filter(({ kind }) => kind === 'login_failed');
  expect(failed).toHaveLength(21);
  expect(failed.find(({ network }) => network === 'other networks')).toMatchObject({
    count: 20,
    browser: 'other browsers',
  });
  expect(events.filter(({ kind }) => kind === 'registered')).toHaveLength(1);
});

test('a response does not wait until the failed login is recorded, and an unknown address records nothing', async () => {
  const { sql } = service.context.database;
  const ada = await register(service.app);
  const before = await sql`select sum(count)::int as total from security_events`;
  await login(newEmail(), 'a wrong guess').expect(401);
  const tx = await sql.reserve();
  await tx`begin`;
  await tx`lock table security_events`;
  await login(ada.email, 'a wrong guess').expect(401);
  await tx`rollback`;
  tx.release();
  await expect.poll(() => countOf(ada, 'login_failed')).toBe(1);
  const after = await sql`select sum(count)::int as total from security_events`;
  expect(after[0]?.['total']).toBe((before[0]?.['total'] as number) + 1);
});

test('events are listed for 90 days, in pages', async () => {
  const { sql } = service.context.database;
  const ada = await register(service.app);
  await login(ada.email).expect(200);
  const { body } = await ada.as('get', '/auth/security-events?limit=1');
  expect(body).toMatchObject({ events: [{ kind: 'login' }], page: { number: 1, has_more: true } });
  await sql`update security_events set day = day - 90 where user_id = ${ada.user.id} and kind = 'login'`;
  expect(await countOf(ada, 'login')).toBe(1);
  await sql`update security_events set day = day - 1 where user_id = ${ada.user.id} and kind = 'login'`;
  expect(await countOf(ada, 'login')).toBe(0);
});
