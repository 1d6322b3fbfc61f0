import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerOf, goodPassword, newEmail, register, startService } from '../../test/harness.ts';
import { startWithMail } from '../../test/mail-harness.ts';

let service: Awaited<ReturnType<typeof startWithMail>>;
/** Another replica. */
let other: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startWithMail();
  other = await startService({ databaseUrl: service.databaseUrl });
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

type User = Awaited<ReturnType<typeof register>>;
const makePasswordEntryOld = ({ user }: User) => service.context.database.sql`
  update sessions set authenticated_at = now() - interval '11 minutes' where user_id = ${user.id}`;
const changeEmail = async ({ as }: User, fields: object = {}): Promise<[number, string]> => {
  const { status, body } = await as('post', '/auth/email').send({ newEmail: newEmail(), ...fields });
  return [status, body.code as string];
};

test('ten minutes after the login a change of the address needs the password again, in the body or by `reauthenticate`', async () => {
  const ada = await register(service.app);
  expect(await changeEmail(ada)).toEqual([202, undefined]);
  await makePasswordEntryOld(ada);
  expect(await changeEmail(ada)).toEqual([403, 'reauthentication_required']);
  expect(await changeEmail(ada, { currentPassword: goodPassword })).toEqual([202, undefined]);
  expect(await changeEmail(ada, { currentPassword: 'a wrong guess' })).toEqual([403, 'wrong_password']);
  expect(await changeEmail(ada)).toEqual([403, 'reauthentication_required']);
  // On the other replica.
  await bearerOf(other.app, ada.token)('post', '/auth/reauthenticate')
    .send({ password: goodPassword })
    .expect(204);
  expect(await changeEmail(ada)).toEqual([202, undefined]);
  const events = (await ada.as('get', '/auth/security-events')).body.events as { kind: string }[];
  expect(events.map(({ kind }) => kind)).toContain('reauthenticated');
});

test('a wrong password is refused and counts as a failed login; a reauthentication of another user does not count for this session', async () => {
  const [ada, eve] = [await register(service.app), await register(service.app)];
  await makePasswordEntryOld(ada);
  const guess = (n: number) => ada.as('post', '/auth/reauthenticate').send({ password: `guess number ${n}` });
  const statuses = [];
  for (let n = 0; n < 12; n++) statuses.push((await guess(n)).status);
  expect([statuses.slice(0, 10), statuses.at(-1)]).toEqual([Array.from({ length: 10 }, () => 403), 429]);
  await eve.as('post', '/auth/reauthenticate').send({ password: goodPassword }).expect(204);
  expect(await changeEmail(ada)).toEqual([403, 'reauthentication_required']);
});

const byPassword = { currentPassword: goodPassword };
const confirmAgain = async ({ as }: User): Promise<[number, string]> => {
  const { status, body } = await as('post', '/auth/email/verification');
  return [status, body.code as string];
};

// Other changes of an account lock its row in `users` first; the end of a session locks only its row in `sessions`.
test.each([
  ['users', 'id', (ada: User) => changeEmail(ada, {})],
  ['users', 'id', (ada: User) => changeEmail(ada, byPassword)],
  ['sessions', 'user_id', (ada: User) => changeEmail(ada, {})],
  ['sessions', 'user_id', (ada: User) => changeEmail(ada, byPassword)],
  ['users', 'id', confirmAgain],
  ['sessions', 'user_id', confirmAgain],
])(
  'a session that ends during its request changes nothing (row of %s locked by %s)',
  async (table, column, request) => {
    const { sql, probe } = service.context.database;
    const ada = await register(service.app);
    const tx = await sql.reserve();
    await tx`begin`;
    await tx`select from ${tx(table)} where ${tx(column)} = ${ada.user.id} for no key update`;
    const answer = request(ada);
    const waiting = () => probe`
      select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`;
    await expect.poll(waiting).toHaveLength(1);
    await tx`delete from sessions where user_id = ${ada.user.id}`;
    await tx`commit`;
    tx.release();
    expect(await answer).toEqual([401, 'invalid_token']);
    expect(await sql`select from mails where sender = ${ada.user.id}`).toHaveLength(0);
    const sent = await sql`
      select from mails join users on email = recipient
      where users.id = ${ada.user.id} and kind = 'email_verification'`;
    expect(sent).toHaveLength(1);
  },
);
