import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, bearerOf, goodPassword, register, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
/** Another replica. */
let other: typeof service;
beforeAll(async () => {
  service = await startService({ variables: { TRUST_PROXY: 'loopback' } });
  other = await startService({ databaseUrl: service.databaseUrl });
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0';

/** Logs a user in with another browser and from another network. `asAtOther` sends requests to the other replica. */
const loginElsewhere = async (email: string) => {
  const answer = await supertest(service.app)
    .post(at('/auth/login'))
    .set('User-Agent', agent)
    .set('X-Forwarded-For', '2001:db8:1:2:3::4')
    .send({ email, password: goodPassword })
    .expect(200);
  return {
    as: bearerOf(service.app, String(answer.body.accessToken)),
    asAtOther: bearerOf(other.app, String(answer.body.accessToken)),
    cookies: (answer.get('Set-Cookie') ?? []).map((line) => line.split(';', 1)[0]).join('; '),
  };
};

const refresh = (cookies: string) => supertest(other.app).post(at('/auth/refresh')).set('Cookie', cookies);

describe('the sessions of a user', () => {
  test('are listed newest first, with browser, network and a mark for the current session', async () => {
    const ada = await register(service.app);
    await register(service.app);
    await loginElsewhere(ada.email);
    const { body } = await ada.as('get', '/auth/sessions').expect(200);
    expect(body.page).toEqual({ number: 1, limit: 50, has_more: false });
    expect(body.sessions).toMatchObject([
      { browser: 'Firefox on Windows', network: '2001:db8:1:2::/64', current: false },
      { browser: 'Unknown browser on unknown system', network: '127.0.0.1', current: true },
    ]);
    const [first, second] = body.sessions as { id: string }[];
    // The background may have written the last use meanwhile.
    const lastUsedAt = expect.any(String);
    expect((await ada.as('get', `/auth/sessions/${second?.id}`)).body).toEqual({ ...second, lastUsedAt });
    expect((await ada.as('get', '/auth/sessions?limit=1')).body).toMatchObject({
      sessions: [first],
      page: { has_more: true },
    });
    expect(JSON.stringify(body)).not.toMatch(/hash|token/i);
  });

  test.each(['all others', 'one'])('cannot be ended (%s) by a session that is being ended', async (ended) => {
    const { sql, probe } = service.context.database;
    const ada = await register(service.app);
    const elsewhere = await loginElsewhere(ada.email);
    const { body } = await elsewhere.as('get', '/auth/sessions').expect(200);
    const [current, first] = body.sessions as { id: string }[];
    const tx = await sql.reserve();
    await tx`begin`;
    await tx`delete from sessions where id = ${String(first?.id)}`;
    const answer = ada
      .as('delete', `/auth/sessions${ended === 'one' ? `/${current?.id}` : ''}`)
      .then(({ status }) => status);
    const waits = () =>
      probe`select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`;
    await expect.poll(waits).toHaveLength(1);
    await tx`commit`;
    tx.release();
    expect(await answer).toBe(401);
    expect((await elsewhere.as('get', '/auth/check')).status).toBe(200);
  });

  test('can be ended one by one, on every replica and with their refresh token', async () => {
    const ada = await register(service.app);
    const elsewhere = await loginElsewhere(ada.email);
    expect((await elsewhere.asAtOther('get', '/auth/check')).status).toBe(200);
    const [{ id }] = (await ada.as('get', '/auth/sessions')).body.sessions;
    await ada.as('delete', `/auth/sessions/${id}`).expect(204);
    expect((await elsewhere.asAtOther('get', '/auth/check')).status).toBe(401);
    expect((await elsewhere.asAtOther('get', '/tasks')).status).toBe(401);
    expect((await refresh(elsewhere.cookies)).status).toBe(401);
    expect((await ada.as('delete', `/auth/sessions/${id}`)).status).toBe(404);
    expect((await ada.as('get', '/auth/check')).status).toBe(200);
  });

  test('can all be ended except the current one', async () => {
    const ada = await register(service.app);
    const elsewhere = [await loginElsewhere(ada.email), await loginElsewhere(ada.email)];
    await ada.as('delete', '/auth/sessions').expect(204);
    for (const { asAtOther } of elsewhere) expect((await asAtOther('get', '/auth/check')).status).toBe(401);
    expect((await ada.as('get', '/auth/sessions')).body.sessions).toMatchObject([{ current: true }]);
  });

  test('can be neither read nor ended by another user', async () => {
    const [ada, eve] = [await register(service.app), await register(service.app)];
    const [{ id }] = (await ada.as('get', '/auth/sessions')).body.sessions;
    expect((await eve.as('get', `/auth/sessions/${id}`)).status).toBe(404);
    expect((await eve.as('delete', `/auth/sessions/${id}`)).status).toBe(404);
    await eve.as('delete', '/auth/sessions').expect(204);
    expect((await ada.as('get', '/auth/check')).status).toBe(200);
    expect((await supertest(service.app).get(at('/auth/sessions'))).status).toBe(401);
  });

  test('end even if one of them is refreshed at the same time', async () => {
    for (let round = 0; round < 10; round++) {
      const ada = await register(service.app);
      const { cookies } = await loginElsewhere(ada.email);
      const [refreshed] = await Promise.all([
        refresh(cookies),
        ada.as('delete', '/auth/sessions').expect(204),
      ]);
      if (refreshed.status !== 200) continue;
      const token = String(refreshed.body.accessToken);
      expect((await bearerOf(other.app, token)('get', '/auth/check')).status).toBe(401);
    }
  });
});

test('the last use of a session is written at most once in five minutes, with its network', async () => {
  const { sql } = service.context.database;
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const makeLastUseOld = async (id: string) => {
    await sql`update sessions set last_used_at = now() - interval '1 hour', network = 'old' where user_id = ${id}`;
  };
  const networkOf = async (id: string) =>
    (
      await sql<{ network: string }[]>`
      select network from sessions where user_id = ${id} and last_used_at > now() - interval '1 minute'`
    )[0]?.network;
  await makeLastUseOld(ada.user.id);
  await ada.as('get', '/tasks').set('X-Forwarded-For', '192.0.2.9').expect(200);
  await expect.poll(() => networkOf(ada.user.id)).toBe('192.0.2.9');
  await makeLastUseOld(ada.user.id);
  await makeLastUseOld(ben.user.id);
  await ada.as('get', '/tasks').expect(200);
  await ben.as('get', '/tasks').expect(200);
  await expect.poll(() => networkOf(ben.user.id)).toBe('127.0.0.1');
  expect(await networkOf(ada.user.id)).toBeUndefined();
});

describe('a session, no matter how often it is refreshed,', () => {
  test('ends 90 days after its login', async () => {
    const { sql } = service.context.database;
    const ada = await register(service.app);
    const setAge = (days: number) => sql`
      update sessions set created_at = now() - make_interval(days => ${days}), expires_at = now() + interval '1 minute'
      where user_id = ${ada.user.id}`;
    await setAge(80);
    const { status } = await refresh(ada.cookies);
    const [remaining] = await sql`
      select extract(days from expires_at - now())::int as days from sessions where user_id = ${ada.user.id}`;
    expect([status, remaining?.['days']]).toEqual([200, 9]);
  });

  test('is not refreshed when it is older than a reduced SESSION_MAX_DAYS', async () => {
    await using strict = await startService({
      databaseUrl: service.databaseUrl,
      variables: { SESSION_MAX_DAYS: '7' },
    });
    const ada = await register(service.app);
    await service.context.database.sql`
      update sessions set created_at = now() - interval '8 days' where user_id = ${ada.user.id}`;
    const answer = await supertest(strict.app).post(at('/auth/refresh')).set('Cookie', ada.cookies);
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_refresh_token']);
  });
});
