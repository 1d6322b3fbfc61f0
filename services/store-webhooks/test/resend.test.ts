import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startService } from './harness.ts';
import { startMailServer } from '@platform/mail/testing';
import { startStandIn } from './simulate/stand-in.ts';

const standIn = await startStandIn();
afterAll(() => standIn[Symbol.asyncDispose]());
beforeEach(() => {
  standIn.behaviour = 'normal';
});

type Service = Awaited<ReturnType<typeof startService>>;
const email = 'ann@example.test';
const notifications = { customers: { enabled: true } };
const order = (consumerId: string) => ({
  id: `o-${consumerId}`,
  status: 'A',
  consumerId,
  cart: { items: [] },
});

const mailsOf = async (service: Service, storeId: string) =>
  (await service.admin('GET', `/v1/stores/${storeId}/notifications`)).body['notifications'] as unknown as {
    id: string;
    kind: string;
    mail: string;
  }[];
const mailOf = async (service: Service, storeId: string, mailKind = 'order') =>
  (await mailsOf(service, storeId)).find(({ kind }) => kind === mailKind)?.mail;
const messageIdsOf = (mails: string[]) => mails.map((mail) => /^Message-ID: (.*)\r$/m.exec(mail)?.[1]);

test('the mail of an order that found no address is sent once the import of its customer has brought one, unless it is older than a day', async () => {
  await using server = await startMailServer();
  await using service = await startService({
    variables: { SMTP_URL: server.url, PROVIDER_TIMEOUT_MS: '600000' },
  });
  const { sql } = service.context.database;
  const pos = { kind: 'blaze', baseUrl: standIn.url, credentials: { apiKey: 'a', authorization: 'b' } };
  const { id, webhookToken } = await service.store({ pos, customerImportsEnabled: true, notifications });
  standIn.behaviour = 'hang';
  standIn.members.set('c-1', { id: 'c-1', email });
  await service.hook('new_member', webhookToken, { id: 'c-1' });
  await expect.poll(() => standIn.asked.length).toBe(1);
  await service.hook('order_updated', webhookToken, order('c-1'));
  await expect.poll(() => mailOf(service, id)).toBe('no_address');
  await sql`insert into notifications (store_id, id, key, kind, audience, change, subject, consumer_id, mail, due_at, created_at)
    select store_id, ${randomUUID()}, 'old', 'verification', audience, 'A', 'Old', consumer_id, mail, due_at,
      created_at - interval '25 hours' from notifications where kind = 'order'`;
  standIn.behaviour = 'normal';
  standIn.release();
  await expect.poll(() => mailOf(service, id)).toBe('sent');
  expect(server.recipients).toEqual([email]);
  expect(await mailOf(service, id, 'verification')).toBe('no_address');
});

/** Two orders whose mails found no address, of customers c-1 and c-2. */
const withoutAddress = async (service: Service) => {
  const { id, webhookToken } = await service.store({ notifications });
  const states = async () =>
    (await mailsOf(service, id)).filter(({ kind }) => kind === 'order').map(({ mail }) => mail);
  // The second comes after the first is stored, because the newest is first in the list.
  for (const [before, customer] of ['c-1', 'c-2'].entries()) {
    await service.hook('order_updated', webhookToken, order(customer));
    await expect.poll(states).toHaveLength(before + 1);
  }
  await expect.poll(states).toEqual(['no_address', 'no_address']);
  return { id, webhookToken, states };
};

test('a mail that found no address is sent when a user is registered', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, states } = await withoutAddress(service);
  const user = { consumerUserId: 'c-1', email };
  expect((await service.admin('POST', `/v1/stores/${id}/users`, user)).status).toBe(201);
  await expect.poll(states).toEqual(['no_address', 'sent']);
  expect(server.recipients).toEqual([email]);
});

test('a mail is sent although its customer gets an address between the look-up of it and the record that there is none', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken } = await service.store({ notifications });
  // What released the mails of this customer saw one in work, and passed over it.
  await service.context.database.sql.unsafe(`
    create function register() returns trigger language plpgsql as $$ begin
      insert into users (store_id, id, consumer_user_id, email, created_at)
      values (new.store_id, uuidv7(), new.consumer_id, '${email}', now()) on conflict do nothing;
      return new;
    end $$;
    create trigger register before update on notifications
      for each row when (new.mail = 'no_address') execute function register()`);
  await service.hook('order_updated', webhookToken, order('c-1'));
  await expect.poll(() => mailOf(service, id)).toBe('sent');
  expect(server.recipients).toEqual([email]);
});

test('a mail that found no address is sent when a webhook brings the address of a user who has none', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken, states } = await withoutAddress(service);
  await service.context.database.sql`
    insert into users (store_id, id, consumer_user_id, created_at) values (${id}, ${randomUUID()}, 'c-1', now())`;
  await service.hook('member_updated', webhookToken, { id: 'c-1', email });
  await expect.poll(states).toEqual(['no_address', 'sent']);
  expect(server.recipients).toEqual([email]);
});

test('a mail can be sent again: one that failed under its own Message-ID, one that was sent under another', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken } = await service.store({ notifications: { email: 'owner@example.test' } });
  const { sql } = service.context.database;
  await service.hook('new_member', webhookToken, { id: 'm-1' });
  await expect.poll(() => mailOf(service, id, 'member')).toBe('sent');
  await sql`update notifications set mail = 'failed', attempts = 10, error = 'not now'`;
  const [mail] = await mailsOf(service, id);
  const resend = (storeId = id, mailId = mail?.id) =>
    service.admin('POST', `/v1/stores/${storeId}/notifications/${mailId}/resend`);
  expect(await resend()).toMatchObject({ status: 202, body: { id: mail?.id, mail: 'pending' } });
  await expect.poll(() => server.mails.length).toBe(2);
  await expect.poll(() => mailOf(service, id, 'member')).toBe('sent');
  expect((await resend()).status).toBe(202);
  await expect.poll(() => server.mails.length).toBe(3);
  const ids = messageIdsOf(server.mails);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
  const other = await service.store();
  for (const answer of [await resend(other.id), await resend(id, randomUUID())])
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('a mail that was sent ten times again is not sent once more', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken } = await service.store({ notifications: { email: 'owner@example.test' } });
  await service.hook('new_member', webhookToken, { id: 'm-1' });
  await expect.poll(() => mailOf(service, id, 'member')).toBe('sent');
  await service.context.database.sql`update notifications set resends = 9`;
  const [mail] = await mailsOf(service, id);
  const resend = () => service.admin('POST', `/v1/stores/${id}/notifications/${mail?.id}/resend`);
  expect((await resend()).status).toBe(202);
  await expect.poll(() => mailOf(service, id, 'member')).toBe('sent');
  expect(await resend()).toMatchObject({ status: 409, body: { code: 'too_many_resends' } });
  expect(server.mails).toHaveLength(2);
});

test('without a mail server nothing can be sent again', async () => {
  await using service = await startService();
  const { id, webhookToken } = await service.store();
  await service.hook('new_member', webhookToken, { id: 'm-1' });
  await service.settled();
  const [mail] = await mailsOf(service, id);
  expect(await service.admin('POST', `/v1/stores/${id}/notifications/${mail?.id}/resend`)).toMatchObject({
    status: 409,
    body: { code: 'mail_off' },
  });
  expect((await mailsOf(service, id))[0]?.mail).toBe('off');
});
