import postgres from 'postgres';
import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import {
  at,
  createList,
  endOverlap,
  goodPassword,
  newEmail,
  register,
  startService,
} from '../../test/harness.ts';
import { startWithMail } from '../../test/mail-harness.ts';
import { plainName } from './render-mail.ts';
import { startMailer } from './mailer.ts';
import { redeemMail } from './queries.ts';

/** Registers a user and confirms the address. */
const registerVerified = async ({ app, context }: Awaited<ReturnType<typeof startService>>) => {
  const user = await register(app);
  await context.database.sql`update users set email_verified_at = now() where id = ${user.user.id}`;
  return user;
};

describe('an invitation', () => {
  test('is mailed with its code, which the invited account can accept', async () => {
    await using service = await startWithMail();
    const ada = await registerVerified(service);
    await ada.as('patch', '/auth/me').send({ name: 'Ada Lovelace' }).expect(200);
    const list = await createList(ada, 'Household');
    const email = newEmail();
    await list.invite(email).expect(200);
    const { source, code } = await service.lastMailTo(email);
    expect(source).toContain('Ada Lovelace invites you to the shared list');
    expect(code).toBe(await list.codeFor(email));
    const ben = await register(service.app, email);
    await ben.as('post', '/lists/join').send({ code }).expect(200);
    // A change of the role sends no second invitation.
    await list.invite(email, 'viewer').expect(200);
    await service.settled('invitation');
    expect(service.mailsTo(email).filter(({ subject }) => subject.startsWith('Invitation'))).toHaveLength(1);
  });

  test('is not mailed if it is withdrawn before its mail is sent', async () => {
    await using service = await startService({ variables: { SMTP_URL: 'smtp://127.0.0.1:1' } });
    const list = await createList(await registerVerified(service));
    const email = newEmail();
    await list.invite(email).expect(200);
    const { sql } = service.context.database;
    await sql`delete from list_members where email = ${email}`;
    await using _ = startMailer(service.context);
    const state = async () => (await sql`select state from mails where recipient = ${email}`)[0]?.['state'];
    await expect.poll(state).toBe('unwanted');
  });

  test('is mailed at most 20 times a day per user; further codes are available only to the owner', async () => {
    await using service = await startService({ variables: { SMTP_URL: 'smtp://127.0.0.1:1' } });
    const ada = await registerVerified(service);
    const lists = await Promise.all([createList(ada), createList(ada), createList(ada)]);
    const guests = () =>
      Object.fromEntries(Array.from({ length: 25 }, () => [newEmail(), { role: 'viewer' }]));
    // All at once, so that none of the three requests sees the mails of the others.
    await Promise.all(lists.map(({ path }) => ada.as('patch', path).send({ members: guests() }).expect(200)));
    const { sql } = service.context.database;
    expect(await sql`select from mails where kind = 'invitation'`).toHaveLength(20);
    for (const { path } of lists)
      expect(Object.keys((await ada.as('get', `${path}/invitations`)).body.codes)).toHaveLength(25);
  });

  test('is not mailed if the inviting user has not confirmed their own address', async () => {
    await using service = await startService({ variables: { SMTP_URL: 'smtp://127.0.0.1:1' } });
    await (await createList(await register(service.app))).invite(newEmail()).expect(200);
    expect(await service.context.database.sql`select from mails where kind = 'invitation'`).toHaveLength(0);
  });
});

test.each([
  ['Ada Lovelace', 'Ada Lovelace'],
  ['Jean-Luc  Müller', 'Jean-Luc Müller'],
  ['http://evil.example/x', 'http evil example x'],
  ['a@b.test\r\nBcc: c', 'a b test Bcc c'],
  ['<b>x</b>', 'b x b'],
  ['💥', undefined],
  [null, undefined],
  ['x'.repeat(100), 'x'.repeat(40)],
])('a name appears in a mail as plain words that no mail program turns into a link: %j', (name, plain) => {
  expect(plainName(name)).toBe(plain);
});

test('a mail has a text and an HTML part, both with its link, and names with markup stay plain words', async () => {
  await using service = await startWithMail({ APP_INVITATION_URL: 'https://app.example.test/join?a=1&b=2' });
  const ada = await registerVerified(service);
  await ada.as('patch', '/auth/me').send({ name: '<b>Ada</b>' }).expect(200);
  const email = newEmail();
  await (await createList(ada, '<img src=x>Home')).invite(email).expect(200);
  const { source, code } = await service.lastMailTo(email);
  const [, text = '', html = ''] = source
    .replaceAll('=3D', '=')
    .split(/^Content-Type: text\/(?:plain|html).*$/m);
  expect(text).toContain(`https://app.example.test/join?a=1&b=2#${code}`);
  const link = `https://app.example.test/join?a=1&amp;b=2#${code}`;
  expect(html).toContain(`<a href="${link}">${link}</a>`);
  expect(html).toContain('b Ada b invites you');
  expect(html).not.toMatch(/<b>|<img/);
});

test('a user who registers in German gets the first mail in German', async () => {
  await using service = await startWithMail();
  const email = newEmail();
  const user = { email, password: goodPassword, language: 'de' };
  await supertest(service.app).post(at('/auth/register')).send(user).expect(201);
  expect((await service.lastMailTo(email)).source).toContain('wurde ein Konto angelegt');
});

test('a mail that the server refuses is sent again, and a metric reports how long it waits', async () => {
  await using service = await startWithMail();
  const respond = service.mailServer.hold();
  const email = newEmail();
  await register(service.app, email);
  await expect.poll(service.mailServer.received).toBe(1);
  await service.context.database.sql`update mails set created_at = now() - interval '1 hour'`;
  const readOldestMailSeconds = async () => {
    const metrics = await service.context.metrics.registry.metrics();
    return Number(/^tasks_oldest_mail_seconds (.*)$/m.exec(metrics)?.[1]);
  };
  await expect.poll(readOldestMailSeconds).toBeGreaterThanOrEqual(3600);
  respond(false);
  expect((await service.lastMailTo(email)).subject).toBe('Confirm your email address');
});

test('a session whose refresh token was copied ends, and its user gets a mail', async () => {
  await using service = await startWithMail();
  const ada = await register(service.app);
  await service.lastMailTo(ada.email);
  const refresh = () => supertest(service.app).post(at('/auth/refresh')).set('Cookie', ada.cookies);
  await refresh().expect(200);
  await endOverlap(service);
  expect((await refresh()).body.code).toBe('refresh_token_reused');
  expect((await service.lastMailTo(ada.email, 2)).subject).toBe('A session was ended');
});

describe('without a mail server', () => {
  test('no mail is stored, and requests that need one are refused with `mail_off`', async () => {
    await using service = await startService();
    const ada = await register(service.app);
    await (await createList(ada)).invite(newEmail()).expect(200);
    const token = 'x';
    const answers = [
      await supertest(service.app).post(at('/auth/password/reset')).send({ email: ada.email }),
      await supertest(service.app)
        .post(at('/auth/password/reset/confirm'))
        .send({ token, newPassword: goodPassword }),
      await supertest(service.app).post(at('/auth/email/verify')).send({ token }),
      await ada.as('post', '/auth/email/verification'),
      await ada.as('post', '/auth/email').send({ newEmail: newEmail(), currentPassword: goodPassword }),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
      answers.map(() => [409, 'mail_off']),
    );
    expect(await service.context.database.sql`select from mails`).toHaveLength(0);
  });
});

describe('with REQUIRE_VERIFIED_EMAIL=login', () => {
  test('an unverified user can neither log in nor refresh, gets another mail, and can log in after confirming', async () => {
    await using service = await startWithMail({ REQUIRE_VERIFIED_EMAIL: 'login' });
    const ada = await register(service.app);
    await service.lastMailTo(ada.email);
    await service.context.database.sql`update mails set created_at = now() - interval '4 minutes'`;
    const login = () =>
      supertest(service.app).post(at('/auth/login')).send({ email: ada.email, password: goodPassword });
    const refused = [
      await login(),
      await supertest(service.app).post(at('/auth/refresh')).set('Cookie', ada.cookies),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      refused.map(() => [403, 'email_not_verified']),
    );
    const { code: token } = await service.lastMailTo(ada.email, 2);
    await supertest(service.app).post(at('/auth/email/verify')).send({ token }).expect(204);
    await login().expect(200);
  });
});

test('redeeming a code reads only mails of its recipient and sender, because anybody may repeat it', async () => {
  await using service = await startService();
  let redemption: { text: string; parameters: string[] } | undefined;
  const sql = postgres(service.databaseUrl, {
    max: 1,
    debug: (_connection, text, parameters) => (redemption = { text, parameters: parameters as string[] }),
  });
  await sql`
    insert into mails (owner, id, kind, recipient, state, attempts, due_at, created_at, expires_at)
    select uuidv7(), uuidv7(), 'email_verification', '', 'sent', 1, now(), now(), now() from generate_series(1, 20000)`;
  await sql`analyze mails`;
  const id = '01900000-0000-7000-8000-000000000000';
  await redeemMail(sql, { parentId: id, id }, ['email_verification']);
  const { text = '', parameters } = redemption ?? {};
  const [row] = await sql.unsafe(`explain (format json) ${text}`, parameters);
  await sql.end();
  const scans = JSON.stringify(row).match(/Seq Scan|mails_\w+/g);
  expect(new Set(scans)).toEqual(new Set(['mails_owner_id_pk', 'mails_by_sender']));
});
