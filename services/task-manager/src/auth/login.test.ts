import { randomInt } from 'node:crypto';
import { createPasswords, type Passwords } from '@platform/auth/password';
import { decodeJwt } from 'jose';
import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { at, goodPassword, newEmail, register, startService, tokenWith } from '../../test/harness.ts';
import { createThrottle } from './throttle/throttle.ts';

/** A random network: failures are counted by network, so each test needs its own. */
const newAddress = () => `2001:db8:${randomInt(65_536).toString(16)}:${randomInt(65_536).toString(16)}::1`;

const login = (app: Parameters<typeof supertest>[0], body: object, address = newAddress()) =>
  supertest(app).post(at('/auth/login')).set('X-Forwarded-For', address).send(body);

describe('logging in', () => {
  test('starts a new session each time', async () => {
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

  test('responds in the same way to a wrong password and an unknown email, after the same work', async () => {
    const comparedHashes: (string | undefined)[] = [];
    const passwords = createPasswords();
    const loginPasswords: Passwords = {
      ...passwords,
      verify: async (stored, ...args) => {
        const hash = typeof stored === 'function' ? await stored() : stored;
        comparedHashes.push(hash);
        return passwords.verify(hash, ...args);
      },
    };
    await using service = await startService({ overrides: { loginPasswords } });
    const { email } = await register(service.app);
    const wrong = await login(service.app, { email, password: 'not the password' });
    const unknown = await login(service.app, { email: newEmail(), password: 'not the password' });
    expect(wrong.status).toBe(401);
    expect(wrong.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(wrong.body.code).toBe('invalid_credentials');
    expect({ ...unknown.body, requestId: '' }).toEqual({ ...wrong.body, requestId: '' });
    expect(unknown.headers['set-cookie']).toBeUndefined();
    expect(comparedHashes).toEqual([expect.stringMatching(/^\$argon2id/), undefined]);
  });

  test('rehashes a password whose hash has outdated parameters', async () => {
    await using service = await startService();
    const { email, user } = await register(service.app);
    const oldHash =
      '$argon2id$v=19$m=1024,t=1,p=1$V3OWV2CxsW7HtRkfOIg9yg$zaXt1cR+qKppu3SBtKdisTmfo7C7suvGv0I/2brh0/M';
    const { sql } = service.context.database;
    await sql`update users set password_hash = ${oldHash} where id = ${user.id}`;
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
  ])('refuses %s %j and names the field', async (field, value) => {
    await using service = await startService();
    const { status, body } = await login(service.app, {
      email: 'a@example.test',
      password: goodPassword,
      [field]: value,
    });
    expect([status, Object.keys(body.errors)]).toEqual([400, [field]]);
  });

  test('refuses a password of one megabyte as too large, and one of 90 kB as wrong', async () => {
    await using service = await startService();
    const email = newEmail();
    expect((await login(service.app, { email, password: 'x'.repeat(1_000_000) })).status).toBe(413);
    expect((await login(service.app, { email, password: 'x'.repeat(90_000) })).status).toBe(401);
  });
});

describe('guessing', () => {
  test('is blocked after ten failures in a row for one email from one network, also with RATE_LIMIT=off', async () => {
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

  test('counts again from zero after a success', async () => {
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

  test('in parallel allows no more attempts than in sequence', async () => {
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

describe('a network with a hundred failed logins', () => {
  /** Starts a service in which one network must wait, with a member who logged in from that network before and a stranger who did not. */
  const startWithBlockedNetwork = async () => {
    const stack = new AsyncDisposableStack();
    const service = stack.use(await startService());
    const address = newAddress();
    const member = await register(service.app);
    expect((await login(service.app, { email: member.email, password: goodPassword }, address)).status).toBe(
      200,
    );
    // The failures are counted without hashing a hundred passwords.
    const throttle = createThrottle({ name: 'task-manager', redis: service.context.redis });
    for (let failure = 1; failure <= 100; failure++) {
      const isKnown = () => Promise.resolve(false);
      await throttle.attempt({ email: newEmail(), address, isKnown }, () => Promise.resolve(undefined));
    }
    const lift = (body: object, token?: string) =>
      supertest(service.app)
        .post(at('/auth/login-waits/lift'))
        .set(token === undefined ? {} : { Authorization: `Bearer ${token}` })
        .send(body);
    return {
      ...service,
      address,
      member: member.email,
      stranger: (await register(service.app)).email,
      lift,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  };

  test('must wait, but an account that logged in from there before can still log in, whether or not it has a session', async () => {
    await using service = await startWithBlockedNetwork();
    const { app, address } = service;
    const stranger = await login(app, { email: service.stranger, password: goodPassword }, address);
    expect(stranger.status).toBe(429);
    expect(Number(stranger.headers['retry-after'])).toBeGreaterThan(0);
    expect((await login(app, { email: service.stranger, password: goodPassword })).status).toBe(200);
    await service.context.database.sql`delete from sessions`;
    expect((await login(app, { email: service.member, password: goodPassword }, address)).status).toBe(200);
    expect((await login(app, { email: service.member, password: 'a wrong guess' }, address)).status).toBe(
      401,
    );
  });

  test('can log in again after an operator lifts the wait, and so can an account with ten failures; the log names the operator', async () => {
    await using service = await startWithBlockedNetwork();
    const { app, address, stranger: email } = service;
    const operator = await tokenWith('accounts:admin');
    const loginCorrectly = () => login(app, { email, password: goodPassword }, address);
    expect((await service.lift({ address }, operator)).status).toBe(204);
    for (let failure = 1; failure <= 10; failure++) {
      expect((await login(app, { email, password: 'a wrong guess' }, address)).status).toBe(401);
    }
    expect((await loginCorrectly()).status).toBe(429);
    expect((await service.lift({ address, email }, operator)).status).toBe(204);
    expect((await loginCorrectly()).status).toBe(200);
    const audit = service.lines.filter((line) => line.includes('login wait lifted'));
    expect(audit.map((line) => JSON.parse(line))).toMatchObject([
      { operator: decodeJwt(operator).sub, address, account: false },
      { operator: decodeJwt(operator).sub, address, account: true },
    ]);
    expect(audit.join()).not.toContain(email);
  });

  test('stays blocked when an anonymous caller, a user or a token with another scope tries to lift the wait', async () => {
    await using service = await startWithBlockedNetwork();
    const { app, address } = service;
    const user = await register(app);
    expect((await service.lift({ address })).status).toBe(401);
    expect((await service.lift({ address }, user.token)).status).toBe(401);
    expect((await service.lift({ address }, await tokenWith('ops:read'))).status).toBe(403);
    const operator = await tokenWith('accounts:admin');
    for (const body of [{}, { address: 'the office' }, { address, email: 'nobody' }]) {
      expect((await service.lift(body, operator)).status).toBe(400);
    }
    expect((await login(app, { email: service.stranger, password: goodPassword }, address)).status).toBe(429);
  });
});

test('250 simultaneous wrong logins from one address delay a login from another address by only a few hashes', async () => {
  await using service = await startService({
    overrides: { loginPasswords: createPasswords({ concurrency: 1 }) },
  });
  const { email } = await register(service.app);
  const address = newAddress();
  let hashed = 0;
  const guess = async () => {
    const { status } = await login(service.url, { email: newEmail(), password: 'a wrong guess' }, address);
    if (status === 401) hashed++;
  };
  const flood = Promise.all(Array.from({ length: 250 }, guess));
  await expect.poll(() => hashed).toBeGreaterThan(5);
  const before = hashed;
  expect((await login(service.url, { email, password: goodPassword })).status).toBe(200);
  // First in, first out would hash all attempts that the network's limit allows before it: a hundred.
  expect(hashed - before).toBeLessThan(40);
  await flood;
});

test('when the queue of hashes is full, further logins get 503 and the queued ones succeed', async () => {
  await using service = await startService({
    overrides: { loginPasswords: createPasswords({ concurrency: 1, waiting: 3 }) },
  });
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
