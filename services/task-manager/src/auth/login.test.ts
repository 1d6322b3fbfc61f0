import { randomInt } from 'node:crypto';
import { createPasswords, type Passwords } from '@platform/auth/password';
import { createThrottle } from '@platform/auth/throttle';
import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { at, goodPassword, newEmail, register, startService } from '../../test/harness.ts';

/** Failures count by address, so each test has one of its own. */
const newAddress = () => `2001:db8:${randomInt(65_536).toString(16)}:${randomInt(65_536).toString(16)}::1`;

const login = (app: Parameters<typeof supertest>[0], body: object, address = newAddress()) =>
  supertest(app).post(at('/auth/login')).set('X-Forwarded-For', address).send(body);

describe('logging in', () => {
  test('gives a session of its own each time', async () => {
    await using service = await startService();
    const { email, user, token } = await register(service.app);
    const { status, body, headers } = await login(service.app, {
      email: ` ${email.toUpperCase()} `,
      password: goodPassword,
    });
    expect(status).toBe(200);
    expect(body).toEqual({ user, accessToken: expect.any(String), expiresAt: expect.any(String) });
    expect(body.accessToken).not.toBe(token);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['set-cookie']).toHaveLength(2);
  });

  test('answers a wrong password and an unknown email alike, after the same work', async () => {
    const compared: (string | undefined)[] = [];
    const real = createPasswords();
    const passwords: Passwords = {
      ...real,
      verify: async (stored, ...rest) => {
        const known = typeof stored === 'function' ? await stored() : stored;
        compared.push(known);
        return real.verify(known, ...rest);
      },
    };
    await using service = await startService({}, { passwords });
    const { email } = await register(service.app);
    const wrong = await login(service.app, { email, password: 'not the password' });
    const unknown = await login(service.app, { email: newEmail(), password: 'not the password' });
    expect(wrong.status).toBe(401);
    expect(wrong.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(wrong.body.code).toBe('invalid_credentials');
    expect({ ...unknown.body, requestId: '' }).toEqual({ ...wrong.body, requestId: '' });
    expect(unknown.headers['set-cookie']).toBeUndefined();
    expect(compared).toEqual([expect.stringMatching(/^\$argon2id/), undefined]);
  });

  test('hashes a password anew that was hashed with other parameters', async () => {
    await using service = await startService();
    const { email, user } = await register(service.app);
    const old =
      '$argon2id$v=19$m=1024,t=1,p=1$V3OWV2CxsW7HtRkfOIg9yg$zaXt1cR+qKppu3SBtKdisTmfo7C7suvGv0I/2brh0/M';
    const { sql } = service.context.database;
    await sql`update users set password_hash = ${old} where id = ${user.id}`;
    expect((await login(service.app, { email, password: goodPassword })).status).toBe(200);
    const [row] = await sql`select password_hash from users where id = ${user.id}`;
    expect(row?.['password_hash']).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await login(service.app, { email, password: goodPassword })).status).toBe(200);
  });

  test.each([
    ['email', 'nobody'],
    ['email', null],
    ['email', 'a\0@example.test'],
    ['password', null],
    ['name', 'Ada'],
  ])('refuses %s %j by name', async (field, value) => {
    await using service = await startService();
    const { status, body } = await login(service.app, {
      email: 'a@example.test',
      password: goodPassword,
      [field]: value,
    });
    expect([status, Object.keys(body.errors)]).toEqual([400, [field]]);
  });

  test('refuses a password of a megabyte unread, and one of 90 kB as wrong', async () => {
    await using service = await startService();
    const email = newEmail();
    expect((await login(service.app, { email, password: 'x'.repeat(1_000_000) })).status).toBe(413);
    expect((await login(service.app, { email, password: 'x'.repeat(90_000) })).status).toBe(401);
  });
});

describe('guessing', () => {
  test('ends after ten failures in a row for one email from one address, rate limits or not', async () => {
    await using service = await startService();
    const { email } = await register(service.app);
    const address = newAddress();
    for (let failure = 1; failure <= 10; failure++) {
      expect((await login(service.app, { email, password: 'a wrong guess' }, address)).status).toBe(401);
    }
    const eleventh = await login(service.app, { email, password: goodPassword }, address);
    expect([eleventh.status, eleventh.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(eleventh.headers['retry-after'])).toBeGreaterThan(0);
    expect((await login(service.app, { email, password: goodPassword })).status).toBe(200);
    const other = await register(service.app);
    expect((await login(service.app, { email: other.email, password: goodPassword }, address)).status).toBe(
      200,
    );
  });

  test('starts from nothing after a success', async () => {
    await using service = await startService();
    const { email } = await register(service.app);
    const address = newAddress();
    for (let round = 0; round < 2; round++) {
      for (let failure = 1; failure <= 9; failure++) {
        expect((await login(service.app, { email, password: 'a wrong guess' }, address)).status).toBe(401);
      }
      expect((await login(service.app, { email, password: goodPassword }, address)).status).toBe(200);
    }
  });

  test('ends for an address that fails too often in a day, whatever the emails', async () => {
    await using ground = await startService();
    const throttle = createThrottle({ name: `test-${newAddress()}`, redis: ground.context.redis, aDay: 5 });
    await using service = await startService({}, { throttle });
    const address = newAddress();
    for (let failure = 1; failure <= 5; failure++) {
      expect(
        (await login(service.app, { email: newEmail(), password: 'a wrong guess' }, address)).status,
      ).toBe(401);
    }
    const next = await login(service.app, { email: newEmail(), password: 'a wrong guess' }, address);
    expect([next.status, Number(next.headers['retry-after']) > 3600]).toEqual([429, true]);
  });

  test('in parallel gets no further than one after the other', async () => {
    await using service = await startService();
    const { email } = await register(service.app);
    const address = newAddress();
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => login(service.app, { email, password: 'a wrong guess' }, address)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });
});

test('beyond the queue of hashes logins are put off, the others succeed', async () => {
  await using service = await startService(
    {},
    { passwords: createPasswords({ concurrency: 1, waiting: 3 }) },
  );
  const { email } = await register(service.app);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => login(service.app, { email, password: goodPassword })),
  );
  const refused = answers.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(4);
  expect(refused[0]?.body.code).toBe('busy');
  expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
  expect(answers.every(({ status }) => status === 503 || status === 200)).toBe(true);
});
