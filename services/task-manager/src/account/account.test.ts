import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, createList, goodPassword, newEmail, register } from '../../test/harness.ts';
import { codeIn, startWithMail } from '../../test/mail-harness.ts';

let service: Awaited<ReturnType<typeof startWithMail>>;
beforeAll(async () => {
  service = await startWithMail({ APP_RESET_URL: 'https://app.example.test/reset' });
});
afterAll(() => service[Symbol.asyncDispose]());

const post = (path: string, body: object) => supertest(service.app).post(at(path)).send(body);
const login = async (email: string, password: string): Promise<number> =>
  (await post('/auth/login', { email, password })).status;
/** Registers a user and waits for the verification mail. */
const registerWithMail = async () => {
  const user = await register(service.app);
  return { ...user, verification: (await service.lastMailTo(user.email)).code };
};
type User = Awaited<ReturnType<typeof registerWithMail>>;
const newPassword = 'a much better phrase';

describe('a forgotten password', () => {
  test('is replaced by the code of a mail, once, which ends every session and all waits after failed logins, and verifies the address', async () => {
    const ada = await registerWithMail();
    await post('/auth/password/reset', { email: ` ${ada.email.toUpperCase()}` }).expect(202);
    const { source, code: token } = await service.lastMailTo(ada.email, 2);
    expect(source).toContain(`https://app.example.test/reset#${token}`);
    for (let n = 0; n < 10; n++) expect(await login(ada.email, 'a wrong guess')).toBe(401);
    expect(await login(ada.email, goodPassword)).toBe(429);
    await post('/auth/password/reset/confirm', { token, newPassword }).expect(204);
    expect(await login(ada.email, goodPassword)).toBe(401);
    expect(await login(ada.email, newPassword)).toBe(200);
    expect((await ada.as('get', '/auth/check')).status).toBe(401);
    expect((await post('/auth/password/reset/confirm', { token, newPassword })).status).toBe(404);
    const { body } = await post('/auth/login', { email: ada.email, password: newPassword });
    expect(body.user).toMatchObject({ emailVerified: true, version: 2 });
    expect((await service.lastMailTo(ada.email, 3)).subject).toBe('Your password was changed');
  });

  test('has the same response to a reset request, and the same rows, for an address without an account', async () => {
    const { sql } = service.context.database;
    const [ada, unknown] = [await registerWithMail(), newEmail()];
    const answers = [];
    for (const email of [ada.email, unknown]) answers.push(await post('/auth/password/reset', { email }));
    const visible = answers.map(({ status, text, headers }) => [
      status,
      text,
      Object.keys(headers).toSorted(),
    ]);
    expect(visible[0]).toEqual(visible[1]);
    expect(visible[0]?.slice(0, 2)).toEqual([202, '']);
    const rows =
      await sql`select kind from mails where recipient in ${sql([ada.email, unknown])} and kind = 'password_reset'`;
    expect(rows).toHaveLength(2);
    await service.lastMailTo(ada.email, 2);
    expect(await service.settled('password_reset')).toContain('unwanted');
    // Within three minutes no second mail is queued, neither for an address with an account nor for one without.
    for (const email of [ada.email, unknown]) await post('/auth/password/reset', { email }).expect(202);
    const kind = 'password_reset';
    expect(
      await sql`select from mails where recipient in ${sql([ada.email, unknown])} and kind = ${kind}`,
    ).toHaveLength(2);
    expect(service.mailsTo(unknown)).toEqual([]);
  });

  test('is replaced by exactly one of 50 simultaneous requests with the same code', async () => {
    const ada = await registerWithMail();
    await post('/auth/password/reset', { email: ada.email }).expect(202);
    const { code: token } = await service.lastMailTo(ada.email, 2);
    const confirm = (_: unknown, n: number) =>
      post('/auth/password/reset/confirm', { token, newPassword: `${newPassword} ${n}` });
    const answers = await Promise.all(Array.from({ length: 50 }, confirm));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    const used = answers.findIndex(({ status }) => status === 204);
    expect(await login(ada.email, `${newPassword} ${used}`)).toBe(200);
  });

  test('is not replaced with a code that a newer code voided, or that is older than 30 minutes', async () => {
    const { sql } = service.context.database;
    const ada = await registerWithMail();
    await post('/auth/password/reset', { email: ada.email }).expect(202);
    const { code: older } = await service.lastMailTo(ada.email, 2);
    await sql`update mails set created_at = now() - interval '4 minutes' where recipient = ${ada.email}`;
    await post('/auth/password/reset', { email: ada.email }).expect(202);
    const { code: newer } = await service.lastMailTo(ada.email, 3);
    const confirm = async (token: string) =>
      (await post('/auth/password/reset/confirm', { token, newPassword })).status;
    expect(await confirm(older)).toBe(404);
    await sql`update mails set expires_at = now() where recipient = ${ada.email}`;
    expect(await confirm(newer)).toBe(404);
    expect(await login(ada.email, goodPassword)).toBe(200);
  });

  test('does not use up the code when the new password breaks the rules, and refuses forged codes and codes of other mails', async () => {
    const ada = await registerWithMail();
    await post('/auth/password/reset', { email: ada.email }).expect(202);
    const { code: token } = await service.lastMailTo(ada.email, 2);
    for (const weak of ['short', ada.email, 'password123']) {
      const { status, body } = await post('/auth/password/reset/confirm', { token, newPassword: weak });
      expect([weak, status, Object.keys(body.errors ?? {})]).toEqual([weak, 400, ['newPassword']]);
    }
    const [owner = '', id = '', mac = ''] = token.split('.');
    const wrongLastCharacter = mac.endsWith('A') ? 'B' : 'A';
    for (const wrongToken of [
      'x',
      `${owner}.${id}`,
      `${id}.${owner}.${mac}`,
      `${token.slice(0, -1)}${wrongLastCharacter}`,
      ada.verification,
    ])
      expect((await post('/auth/password/reset/confirm', { token: wrongToken, newPassword })).status).toBe(
        404,
      );
    expect((await post('/auth/email/verify', { token })).status).toBe(404);
    await post('/auth/password/reset/confirm', { token, newPassword }).expect(204);
  });
});

test('reset mails, and attempts with one code, are limited per network, whether or not the account exists', async () => {
  await using limited = await startWithMail({ RATE_LIMIT: 'on' });
  const send = (path: string, body: object) => supertest(limited.app).post(at(path)).send(body);
  const ada = await register(limited.app);
  for (const email of [ada.email, newEmail()]) {
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await send('/auth/password/reset', { email })).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
  }
  // Within three minutes a mail is not replaced, so that the second mail (the first reset) has the valid code.
  const { code: token } = await limited.lastMailTo(ada.email, 2);
  const statuses = [];
  for (let n = 0; n < 6; n++)
    statuses.push((await send('/auth/password/reset/confirm', { token, newPassword })).status);
  expect(statuses).toEqual([204, 404, 404, 404, 404, 429]);
});

test('many reset requests for the address of somebody else, even from many networks of one customer, void no code and do not block the owner', async () => {
  await using limited = await startWithMail({ RATE_LIMIT: 'on', TRUST_PROXY: 'loopback' });
  const ada = await register(limited.app);
  const requestReset = (address: string) =>
    supertest(limited.app)
      .post(at('/auth/password/reset'))
      .set('X-Forwarded-For', address)
      .send({ email: ada.email });
  await requestReset('2001:db8:0:1::1').expect(202);
  const { code: token } = await limited.lastMailTo(ada.email, 2);
  const statuses = [];
  for (let n = 2; n < 8; n++) statuses.push((await requestReset(`2001:db8:0:${n}::1`)).status);
  expect(statuses).toEqual([202, 202, 202, 202, 429, 429]);
  await supertest(limited.app)
    .post(at('/auth/password/reset/confirm'))
    .send({ token, newPassword })
    .expect(204);
  await requestReset('203.0.113.9').expect(202);
  await limited.lastMailTo(ada.email, 4);
});

describe('a password', () => {
  test('is changed with the current password; other sessions end, and a reset code that was sent before stays valid', async () => {
    const ada = await registerWithMail();
    const second = await post('/auth/login', { email: ada.email, password: goodPassword });
    await post('/auth/password/reset', { email: ada.email }).expect(202);
    const { code: token } = await service.lastMailTo(ada.email, 2);
    const change = (currentPassword: string) =>
      ada.as('post', '/auth/password').send({ currentPassword, newPassword });
    expect((await change('not the password')).body.code).toBe('wrong_password');
    await change(goodPassword).expect(204);
    expect((await ada.as('get', '/auth/check')).status).toBe(200);
    const other = await supertest(service.app)
      .get(at('/auth/check'))
      .auth(String(second.body.accessToken), { type: 'bearer' });
    expect(other.status).toBe(401);
    expect((await service.lastMailTo(ada.email, 3)).subject).toBe('Your password was changed');
    await post('/auth/password/reset/confirm', { token, newPassword }).expect(204);
  });

  test('is refused if another transaction replaces it after the comparison', async () => {
    // Polls with `probe`: a transaction sees only the connections that were open when it first read pg_stat_activity.
    const { sql, probe } = service.context.database;
    const otherHash = await service.context.loginPasswords.hash(newPassword, {
      email: '',
      address: undefined,
    });
    for (const sendPassword of [
      (user: User) => user.as('post', '/auth/password').send({ currentPassword: goodPassword, newPassword }),
      (user: User) =>
        user.as('post', '/auth/email').send({ newEmail: newEmail(), currentPassword: goodPassword }),
      ({ email }: User) => post('/auth/login', { email, password: goodPassword }),
    ]) {
      const ada = await registerWithMail();
      const tx = await sql.reserve();
      await tx`begin`;
      await tx`update users set password_hash = ${otherHash} where email = ${ada.email}`;
      const answer = sendPassword(ada).then(({ status }) => status);
      const waits = () =>
        probe`select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`;
      await expect.poll(waits).toHaveLength(1);
      await tx`commit`;
      tx.release();
      expect([401, 403]).toContain(await answer);
      expect(await sql`select from mails where sender = ${ada.user.id}`).toHaveLength(0);
      const [stored] = await sql`select password_hash from users where email = ${ada.email}`;
      expect(stored?.['password_hash']).toBe(otherHash);
      expect(await sql`select from sessions where user_id = ${ada.user.id}`).toHaveLength(1);
    }
  });

  test.each(['reset', 'change', 'first confirmation'] as const)(
    'a change of address that was requested before a %s is void',
    async (voidedBy) => {
      const ada = await registerWithMail();
      const email = newEmail();
      await ada
        .as('post', '/auth/email')
        .send({ newEmail: email, currentPassword: goodPassword })
        .expect(202);
      const { code } = await service.lastMailTo(email);
      if (voidedBy === 'change')
        await ada
          .as('post', '/auth/password')
          .send({ currentPassword: goodPassword, newPassword })
          .expect(204);
      else if (voidedBy === 'reset') {
        await post('/auth/password/reset', { email: ada.email }).expect(202);
        const { code: token } = await service.lastMailTo(ada.email, 2);
        await post('/auth/password/reset/confirm', { token, newPassword }).expect(204);
      } else await post('/auth/email/verify', { token: ada.verification }).expect(204);
      expect((await post('/auth/email/verify', { token: code })).status).toBe(404);
    },
  );

  test('cannot be guessed with a stolen access token: after ten failures the user must wait', async () => {
    const ada = await registerWithMail();
    const guess = (n: number) =>
      ada.as('post', '/auth/password').send({ currentPassword: `guess number ${n}`, newPassword });
    const statuses = [];
    for (let n = 0; n < 12; n++) statuses.push((await guess(n)).status);
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 403));
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('an email address', () => {
  test('is confirmed with the code of the registration mail, which ends the existing sessions', async () => {
    const ada = await registerWithMail();
    expect(ada.answer.body.user.emailVerified).toBe(false);
    await post('/auth/email/verify', { token: ada.verification }).expect(204);
    expect((await ada.as('get', '/auth/check')).status).toBe(401);
    const { body } = await post('/auth/login', { email: ada.email, password: goodPassword });
    expect(body.user.emailVerified).toBe(true);
    expect((await post('/auth/email/verify', { token: ada.verification })).status).toBe(404);
  });

  test('is confirmed with the code of a second mail, and not by a GET of the link, for example by a mail scanner', async () => {
    const ada = await registerWithMail();
    await service.context.database
      .sql`update mails set created_at = now() - interval '4 minutes' where recipient = ${ada.email}`;
    await ada.as('post', '/auth/email/verification').expect(202);
    const { code: token } = await service.lastMailTo(ada.email, 2);
    for (const method of ['get', 'head'] as const)
      expect((await supertest(service.app)[method](at(`/auth/email/verify?token=${token}`))).status).toBe(
        405,
      );
    expect((await post('/auth/email/verify', { token: ada.verification })).status).toBe(404);
    await post('/auth/email/verify', { token }).expect(204);
  });

  test('is replaced when the new address is confirmed, and the old address gets a notice', async () => {
    const ada = await registerWithMail();
    const email = newEmail();
    const change = (newEmail: string, currentPassword = goodPassword) =>
      ada.as('post', '/auth/email').send({ newEmail, currentPassword });
    expect((await change(email, 'not the password')).body.code).toBe('wrong_password');
    await change(email).expect(202);
    // A request of another user for the same address does not void the first.
    const ben = await registerWithMail();
    await ben.as('post', '/auth/email').send({ newEmail: email, currentPassword: goodPassword }).expect(202);
    await service.lastMailTo(email, 2);
    await ada.as('patch', '/auth/me').send({ language: 'de' }).expect(200);
    expect((await ada.as('get', '/auth/me')).body.email).toBe(ada.email);
    await post('/auth/email/verify', { token: codeIn(service.mailsTo(email)[0]?.source) }).expect(204);
    expect((await ada.as('get', '/auth/me')).body).toMatchObject({ email, emailVerified: true, version: 3 });
    expect(await login(ada.email, goodPassword)).toBe(401);
    expect(await login(email, goodPassword)).toBe(200);
    expect((await service.lastMailTo(ada.email, 2)).subject).toContain('Ihre_E-Mail-Adresse_wurde');
  });

  test('can change without losing list memberships, which replace invitations of the new address', async () => {
    const [ada, ben] = [await registerWithMail(), await registerWithMail()];
    const [list, other] = [await createList(ada), await createList(ada)];
    await list.join(ben, 'owner');
    const email = newEmail();
    for (const each of [list, other]) await each.invite(email, 'viewer').expect(200);
    await ben.as('post', '/auth/email').send({ newEmail: email, currentPassword: goodPassword }).expect(202);
    const isChange = ({ subject }: { subject: string }) => subject === 'Confirm your new email address';
    await expect.poll(() => service.mailsTo(email).filter(isChange).length).toBe(1);
    const [mail] = service.mailsTo(email).filter(isChange);
    await post('/auth/email/verify', { token: codeIn(mail?.source) }).expect(204);
    const { body } = await ada.as('get', list.path);
    expect(Object.keys(body.members).toSorted()).toEqual([ada.email, email].toSorted());
    expect(body.members[email]).toMatchObject({ role: 'owner', userId: ben.user.id });
    await ben
      .as('post', '/lists/join')
      .send({ code: await other.codeFor(email) })
      .expect(200);
  });

  test('of another account is neither revealed nor taken over by a change: the response is the same, and no mail is sent', async () => {
    const [ada, ben] = [await registerWithMail(), await registerWithMail()];
    const freeEmail = newEmail();
    const answers = [];
    for (const newEmail of [ben.email, freeEmail])
      answers.push(await ada.as('post', '/auth/email').send({ newEmail, currentPassword: goodPassword }));
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [202, ''],
      [202, ''],
    ]);
    const { code: token } = await service.lastMailTo(freeEmail);
    expect(service.mailsTo(ben.email)).toHaveLength(1);
    await register(service.app, freeEmail);
    const { status, body } = await post('/auth/email/verify', { token });
    expect([status, body.code]).toEqual([409, 'email_taken']);
  });
});

describe('a profile', () => {
  test('supports ETag, If-None-Match, If-Match and merge patches like every record', async () => {
    const ada = await registerWithMail();
    const { body, headers } = await ada.as('get', '/auth/me').expect(200);
    expect(body).toEqual({ ...ada.user, language: 'en', emailVerified: false, version: 1 });
    const etag = String(headers['etag']);
    await ada.as('get', '/auth/me').set('If-None-Match', etag).expect(304);
    const patch = { name: 'Ada', language: 'de' };
    const changed = await ada.as('patch', '/auth/me').set('If-Match', etag).send(patch).expect(200);
    expect(changed.body).toEqual({ ...body, ...patch, version: 2 });
    expect((await ada.as('patch', '/auth/me').send({})).body).toEqual(changed.body);
    expect((await ada.as('patch', '/auth/me').set('If-Match', etag).send({ name: null })).status).toBe(412);
    for (const invalidPatch of [
      { language: 'fr' },
      { name: ' ' },
      { email: 'x@example.test' },
      { emailVerified: true },
    ])
      expect((await ada.as('patch', '/auth/me').send(invalidPatch)).status).toBe(400);
  });

  test('sets the language of mails to the user', async () => {
    const ada = await registerWithMail();
    await ada.as('patch', '/auth/me').send({ language: 'de' }).expect(200);
    await post('/auth/password/reset', { email: ada.email }).expect(202);
    expect((await service.lastMailTo(ada.email, 2)).subject).toBe('Neues Passwort festlegen');
  });
});
