import { createPasswords } from '@platform/auth/password';
import { startRedis } from '@platform/local/redis';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { at, goodPassword, newEmail, register as registerUser, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const register = (body: string | object | undefined, type = 'application/json') =>
  supertest(service.app).post(at('/auth/register')).set('Content-Type', type).send(body);

describe('registering', () => {
  test('creates a user and logs in; the password is neither stored nor logged', async () => {
    const { status, body, headers } = await register({
      email: '  Ada@Example.TEST ',
      password: goodPassword,
      name: 'Ada',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      user: {
        id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/),
        email: 'ada@example.test',
        name: 'Ada',
        emailVerified: false,
        language: 'en',
        version: 1,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      accessToken: expect.any(String),
      expiresAt: expect.stringMatching(/Z$/),
    });
    expect(headers['cache-control']).toBe('no-store');
    const stored = await service.context.database.sql`select * from users where email = 'ada@example.test'`;
    expect(JSON.stringify(stored)).not.toContain(goodPassword);
    expect(stored[0]?.['password_hash']).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(service.lines.join('')).not.toContain(goodPassword);
  });

  test('stores only hashes of refresh tokens', async () => {
    const { headers } = await register({ email: newEmail(), password: goodPassword });
    const [, token = ''] = /tasks_refresh=([^;]+)/.exec(String(headers['set-cookie'])) ?? [];
    const stored = await service.context.database.sql`select refresh_hash from sessions`;
    const secret = Buffer.from(token, 'base64url').subarray(32);
    expect(stored.some((row) => secret.equals(row['refresh_hash'] as Buffer))).toBe(false);
    expect(service.lines.join('')).not.toContain(token);
  });

  test('does not require a name', async () => {
    expect((await register({ email: newEmail(), password: goodPassword })).body.user.name).toBeNull();
    expect((await register({ email: newEmail(), password: goodPassword, name: null })).status).toBe(201);
  });

  test('accepts any Unicode in a password, and accepts it in any normalization form at login', async () => {
    const email = newEmail();
    expect((await register({ email, password: 'pa\u0308ssw\u00f6rt \u{1f600}' })).status).toBe(201);
    const login = await supertest(service.app)
      .post(at('/auth/login'))
      .send({ email, password: 'p\u00e4ssw\u00f6rt \u{1f600}' });
    expect(login.status).toBe(200);
  });

  test('refuses an email that is taken, in any case', async () => {
    const email = newEmail();
    await register({ email, password: goodPassword });
    const { status, body } = await register({ email: ` ${email.toUpperCase()}`, password: goodPassword });
    expect([status, body.code]).toEqual([409, 'email_taken']);
  });

  test('creates one user when the same email registers many times at once', async () => {
    const email = newEmail();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => register({ email, password: goodPassword })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array<number>(19).fill(409)]);
    const [row] = await service.context.database.sql`
      select count(*)::int as count from users join sessions on users.id = user_id where email = ${email}`;
    expect(row?.['count']).toBe(1);
  });

  test.each([
    ['password', 'short77'],
    ['password', 'x'.repeat(129)],
    ['password', 'password1'],
    ['password', 'PassWord1'],
    ['password', 'somebody@example.test'],
    ['password', 'eight ok\ud800'],
    ['password', 12345678],
    ['email', 'nobody'],
    ['email', 'a@b@example.test'],
    ['email', 'some\0body@example.test'],
    ['email', `${'x'.repeat(250)}@example.test`],
    ['email', ['somebody@example.test']],
    // The Kelvin sign, whose lower case is k, and letters that look like Latin letters.
    ['email', '\u212Aim@example.test'],
    ['email', 'som\u0435body@example.test'],
    ['email', '\uff53omebody@example.test'],
    ['name', ''],
    ['name', '  '],
    ['name', 'x'.repeat(101)],
    ['name', 'nul\0'],
    ['name', '\ud800'],
    ['id', '01900000-0000-7000-8000-000000000001'],
    ['createdAt', '2026-01-01T00:00:00.000Z'],
    ['role', 'admin'],
  ])('refuses %s %j and names the field', async (field, value) => {
    const { status, body } = await register({
      email: 'somebody@example.test',
      password: goodPassword,
      [field]: value,
    });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(Object.keys(body.errors)).toEqual([field]);
  });

  test('refuses a long email without normalizing it, because many combining marks take seconds', async () => {
    using normalize = vi.spyOn(String.prototype, 'normalize');
    const email = `a${'\u0300'.repeat(24_000)}${'\u0316'.repeat(24_000)}`;
    const { status, body } = await register({ email, password: goodPassword });
    expect([status, Object.keys(body.errors)]).toEqual([400, ['email']]);
    expect(normalize.mock.contexts.map(String)).not.toContain(email);
  });

  test.each(['[]', 'null', '"text"', '7', '{}', ''])('refuses the body %j', async (body) => {
    const answer = await register(body);
    expect([answer.status, answer.type]).toEqual([400, 'application/problem+json']);
  });

  test('refuses __proto__ and constructor as unknown fields', async () => {
    const body = `{"email":"${newEmail()}","password":"${goodPassword}","__proto__":{"name":"x"}}`;
    const answer = await register(body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['__proto__']]);
  });

  test('refuses invalid JSON, too deep nesting and too large bodies', async () => {
    const deeplyNested = `${'['.repeat(15_000)}${']'.repeat(15_000)}`;
    const answers = await Promise.all([
      register('{"email":'),
      register(deeplyNested),
      register({ email: newEmail(), password: 'x'.repeat(1_000_000) }),
      register('email=a', 'application/x-www-form-urlencoded'),
      register('{}', 'text/plain'),
    ]);
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [400, 'malformed_json'],
      [400, expect.any(String)],
      [413, 'too_large'],
      [415, 'unsupported_media_type'],
      [415, 'unsupported_media_type'],
    ]);
  });
});

describe('many registrations at once', () => {
  const flood = (app: Parameters<typeof supertest>[0], addressOf: (n: number) => string) =>
    Promise.all(
      Array.from({ length: 80 }, (_, n) =>
        supertest(app)
          .post(at('/auth/register'))
          .set('X-Forwarded-For', addressOf(n))
          .send({ email: newEmail(), password: goodPassword }),
      ),
    );
  const login = (app: Parameters<typeof supertest>[0], email: string) =>
    supertest(app).post(at('/auth/login')).send({ email, password: goodPassword });

  test.each([
    ['one address', () => '198.51.100.7', 429],
    ['many addresses', (n: number) => `198.51.100.${n + 1}`, 503],
  ])(
    'from %s: registrations beyond the limit get Retry-After, and all logins succeed',
    async (_, addressOf, refusal) => {
      const redis = await startRedis();
      await using _stop = { [Symbol.asyncDispose]: redis.stop };
      await using busy = await startService({
        variables: { RATE_LIMIT: 'on', REGISTRATIONS_PER_NETWORK: '30', REDIS_URL: redis.url },
        overrides: { registrationPasswords: createPasswords({ concurrency: 1, waiting: 40 }) },
      });
      const { email } = await registerUser(busy.app);
      const flooding = flood(busy.app, addressOf);
      const logins = await Promise.all(Array.from({ length: 15 }, () => login(busy.app, email)));
      expect(logins.map(({ status }) => status)).toEqual(logins.map(() => 200));
      const registrations = await flooding;
      const refused = registrations.filter(({ status }) => status !== 201);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length).toBeLessThan(registrations.length);
      for (const { status, headers } of refused) {
        expect(status).toBe(refusal);
        expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      }
    },
  );
});
