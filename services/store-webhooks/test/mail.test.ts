import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMailServer } from '@platform/mail/testing';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startService } from './harness.ts';
import { startStandIn } from './simulate/stand-in.ts';

const customers = { enabled: true };

test('customers and the shop get each mail once, even if the mail server rejected it at first', async () => {
  await using server = await startMailServer(2);
  await using service = await startService({
    variables: { SMTP_URL: server.url, SMTP_FROM: 'shop@example.test' },
  });
  const { id, webhookToken } = await service.store({
    name: 'Tea\r\nBcc: all@example.test',
    notifications: { email: 'owner@example.test', customers },
  });
  await service.admin('POST', `/v1/stores/${id}/users`, {
    consumerUserId: 'c-1',
    email: 'ann@example.test',
  });
  const order = { id: 'o-1', orderNo: '1001', status: 'PENDING', consumerId: 'c-1', cart: { items: [] } };
  await service.hook('order_updated', webhookToken, order);
  await service.hook('order_updated', webhookToken, order);
  await service.settled();
  await service.hook('job_started', webhookToken, { id: 'j-1', orderId: 'o-1' });
  await service.hook('order_updated', webhookToken, { ...order, id: 'o-2', consumerId: 'nobody' });
  await service.settled();
  const list = async () =>
    (await service.admin('GET', `/v1/stores/${id}/notifications`)).body['notifications'] as unknown as {
      mail: string;
    }[];
  while ((await list()).some(({ mail }) => mail === 'pending')) await sleep(20);
  expect((await list()).map(({ mail }) => mail).toSorted()).toEqual(['no_address', 'sent', 'sent', 'sent']);
  const addresses = server.mails.map((mail) => /^To: (.*?)\r$/m.exec(mail)?.[1] ?? '').toSorted();
  expect(addresses).toEqual(['ann@example.test', 'ann@example.test', 'owner@example.test']);
  expect(server.mails.join('')).not.toMatch(/^Bcc:/m);
  expect(new Set(server.mails.map((mail) => /^Message-ID: (.*)$/m.exec(mail)?.[1])).size).toBe(3);
});

const many = Array.from({ length: 40 }, (_, at) => `victim${at}@example.test`).join(', ');

/** Waits until no mail is pending; returns the states of all mails. */
const settledMails = async (service: Awaited<ReturnType<typeof startService>>, id: string) => {
  const states = async () => {
    const { body } = await service.admin('GET', `/v1/stores/${id}/notifications`);
    return (body['notifications'] as unknown as { mail: string }[]).map(({ mail }) => mail);
  };
  await expect.poll(states).not.toContain('pending');
  return states();
};

test('an address gets at most 50 mails of a store per day, even if many customers have it', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken } = await service.store({ notifications: { customers } });
  for (let n = 0; n < 52; n++) {
    const email = n % 2 === 0 ? 'third@example.test' : 'Third@Example.test';
    await service.hook('new_member', webhookToken, { id: `m-${n}`, email });
    await service.hook('order_updated', webhookToken, {
      id: `o-${n}`,
      status: 'READY',
      consumerId: `m-${n}`,
    });
  }
  await service.settled();
  await expect.poll(async () => (await settledMails(service, id)).length).toBeGreaterThan(0);
  expect(server.mails).toHaveLength(50);
  const { body } = await service.admin('GET', `/v1/stores/${id}/notifications?limit=200`);
  const states = (body['notifications'] as unknown as { audience: string; mail: string }[])
    .filter(({ audience }) => audience === 'customer')
    .map(({ mail }) => mail);
  expect(states.filter((state) => state === 'off')).toHaveLength(2);
});

test('no mail is sent to an email field with several addresses, from any source', async () => {
  await using server = await startMailServer();
  await using standIn = await startStandIn();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken } = await service.store({
    customerImportsEnabled: true,
    notifications: { customers },
    pos: { kind: 'blaze', baseUrl: standIn.url, credentials: { apiKey: 'a', authorization: 'b' } },
  });
  const user = { consumerUserId: 'c-1', email: many };
  expect((await service.admin('POST', `/v1/stores/${id}/users`, user)).status).toBe(400);
  const settings = { notifications: { email: many } };
  expect((await service.admin('PATCH', `/v1/stores/${id}`, settings)).status).toBe(400);

  // From a webhook, from the POS during an import, and from a row that is older than the check.
  await service.hook('new_member', webhookToken, { id: 'c-2', email: many });
  standIn.members.set('c-3', { id: 'c-3', email: `Ann <ann@example.test>, ${many}` });
  await service.hook('new_member', webhookToken, { id: 'c-3', email: 'ann@example.test' });
  await service.settled();
  const { sql } = service.context.database;
  await sql`update users set email = ${many} where consumer_user_id = 'c-3'`;
  for (const consumerId of ['c-2', 'c-3'])
    await service.hook('order_updated', webhookToken, { id: consumerId, status: 'A', consumerId });
  await service.settled();
  expect(new Set(await settledMails(service, id))).toEqual(new Set(['no_address', 'off']));
  expect(server.recipients).toEqual([]);
});

test.each<[string, object, string | null]>([
  ['several addresses', { email: many }, null],
  ['an address that no mail can be sent to', { email: 'jörg@müller.example' }, null],
  ['no address', {}, 'ann@example.test'],
])(
  'after a member_updated with %s, the earlier address is used only if the POS sent no email',
  async (_, sent, email) => {
    await using service = await startService();
    const { id, webhookToken } = await service.store();
    const user = { consumerUserId: 'c-1', email: 'ann@example.test' };
    await service.admin('POST', `/v1/stores/${id}/users`, user);
    await service.hook('member_updated', webhookToken, { id: 'c-1', firstName: 'Ann', ...sent });
    await service.settled();
    const { body } = await service.admin('GET', `/v1/stores/${id}/users`);
    expect(body['users']).toMatchObject([{ email, firstName: 'Ann' }]);
  },
);

test.each([
  ['a link', { orderNo: '1 https://evil.example/x', status: 'WON http://evil.example' }, 'Your order'],
  ['a host name', { orderNo: 'evil.example', status: 'evil.example' }, 'Your order'],
  ['line ends', { orderNo: '1\r\nBcc: all@example.test', status: 'A\r\n\r\nfree text' }, 'Your order'],
  ['a very long text', { orderNo: '9'.repeat(90), status: 'Z'.repeat(40) }, 'Your order'],
  ['an ordinary number', { orderNo: 'W-1001', status: 'OUT_FOR_DELIVERY' }, 'Your order W-1001'],
])(
  'an order with %s as number and status adds at most a plain number to the subject',
  async (_n, order, line) => {
    await using server = await startMailServer();
    await using service = await startService({ variables: { SMTP_URL: server.url } });
    const { id, webhookToken } = await service.store({
      name: 'Tea\u2028\u202eshop',
      notifications: { customers },
    });
    const user = { consumerUserId: 'c-1', email: 'ann@example.test' };
    await service.admin('POST', `/v1/stores/${id}/users`, user);
    await service.hook('order_updated', webhookToken, { id: 'o 1', consumerId: 'c-1', ...order });
    await service.settled();
    expect(await settledMails(service, id)).toEqual(['sent']);
    const [mail = ''] = server.mails;
    expect(/^Subject: (.*?)\r$/m.exec(mail)?.[1]).toMatch(new RegExp(`^Tea shop: ${line}$`));
    expect(mail).not.toMatch(/evil|Bcc|free text|9{12}|Z{12}/);
    expect(server.recipients).toEqual(['ann@example.test']);
  },
);

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

test('an order mail without an address is sent after the import of its customer, unless it is older than a day', async () => {
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
  await expect.poll(() => standIn.requests.length).toBe(1);
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

/** Creates two orders of customers c-1 and c-2, whose mails have no address. */
const withoutAddress = async (service: Service) => {
  const { id, webhookToken } = await service.store({ notifications });
  const states = async () =>
    (await mailsOf(service, id)).filter(({ kind }) => kind === 'order').map(({ mail }) => mail);
  // The second order is sent after the first is stored, because the list starts with the newest.
  for (const [before, customer] of ['c-1', 'c-2'].entries()) {
    await service.hook('order_updated', webhookToken, order(customer));
    await expect.poll(states).toHaveLength(before + 1);
  }
  await expect.poll(states).toEqual(['no_address', 'no_address']);
  return { id, webhookToken, states };
};

test('a mail without an address is sent when a user is registered', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, states } = await withoutAddress(service);
  const user = { consumerUserId: 'c-1', email };
  expect((await service.admin('POST', `/v1/stores/${id}/users`, user)).status).toBe(201);
  await expect.poll(states).toEqual(['no_address', 'sent']);
  expect(server.recipients).toEqual([email]);
});

test('a mail is sent even if its customer gets an address between the failed look-up and its record', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken } = await service.store({ notifications });
  // The release of the waiting mails skips this one, because it is still in work.
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

test('a mail without an address is sent when a webhook contains the address of its user', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken, states } = await withoutAddress(service);
  await service.context.database.sql`
    insert into users (store_id, id, consumer_user_id, created_at) values (${id}, ${randomUUID()}, 'c-1', now())`;
  await service.hook('member_updated', webhookToken, { id: 'c-1', email });
  await expect.poll(states).toEqual(['no_address', 'sent']);
  expect(server.recipients).toEqual([email]);
});

test('a mail can be resent: a failed one with the same Message-ID, a sent one with a new Message-ID', async () => {
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

test('a mail can be resent at most ten times', async () => {
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

test('without a mail server no mail can be resent', async () => {
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
