import { startMailServer } from '@platform/mail/testing';
import { startReceiver } from '@platform/outgoing-webhooks/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startService, tokens, type Service } from './harness.ts';
import { warehouseInput } from './inputs.ts';

const writer = `Bearer ${await tokens.token({ sub: 'ann', scope: 'consignments:write consignments:subscriptions' })}`;
const path = '/feeds/consignments/subscriptions';
const contact = 'dev@shop.example.test';
const eventually = (assertion: () => unknown) => vi.waitFor(assertion, { timeout: 20_000, interval: 50 });

/** A service that sends mails, and a subscriber that answers 410. */
const start = async ({ refusals = 0, isMailing = true } = {}) => {
  const mailServer = await startMailServer(refusals);
  const variables = isMailing ? { SMTP_URL: mailServer.url } : {};
  const service = await startService({ variables });
  service.context.subscriptions.start();
  onTestFinished(async () => {
    await service[Symbol.asyncDispose]();
    await mailServer[Symbol.asyncDispose]();
  });
  const { url } = await startReceiver((_, res) => res.writeHead(410).end());
  return { service, url, mailServer, sql: service.context.database.sql };
};

const subscribe = async (service: Service, body: object): Promise<string> =>
  (
    (await service
      .post(path, { lists: ['warehouses'], ...body })
      .set('Authorization', writer)
      .expect(201)) as { body: { id: string } }
  ).body.id;

const change = (service: Service) => service.post('/warehouses', warehouseInput()).expect(201);

const untilDisabled = (service: Service, id: string) =>
  eventually(async () =>
    expect((await service.get(`${path}/${id}`).set('Authorization', writer).expect(200)).body).toMatchObject({
      state: 'disabled',
    }),
  );

const activate = (service: Service, id: string) =>
  service.patch(`${path}/${id}`, { state: 'active' }).set('Authorization', writer).expect(200);

/** Resolves when no mail is due any more. */
const untilQuiet = ({ sql }: Service['context']['database']) =>
  eventually(async () =>
    expect(
      await sql`select from subscriptions where notice_due_at <= now() and contact is not null`,
    ).toHaveLength(0),
  );

test('the contact gets one mail with the host, the reason and what to do, and no other text of the subscription', async () => {
  const { service, url, mailServer } = await start();
  const id = await subscribe(service, { url: `${url}/secret-path`, contact, description: 'Win a prize' });
  await change(service);
  await eventually(() => expect(mailServer.mails).toHaveLength(1));
  const [mail = ''] = mailServer.mails;
  expect(mailServer.recipients).toEqual([contact]);
  const text = mail.replaceAll('=\r\n', '').replaceAll('=3D', '=');
  for (const part of [new URL(url).host, '(410)', id, 'PATCH']) expect(text).toContain(part);
  for (const part of ['secret-path', 'Win a prize']) expect(text).not.toContain(part);
  await untilQuiet(service.context.database);
});

test('if a subscription is disabled again, its contact gets the next mail a day after the last one', async () => {
  const { service, url, mailServer, sql } = await start();
  const id = await subscribe(service, { url, contact });
  await change(service);
  await eventually(() => expect(mailServer.mails).toHaveLength(1));
  await activate(service, id);
  await change(service);
  await untilDisabled(service, id);
  const [row] = await sql<[{ isLater: boolean }]>`
    select notice_due_at > now() + interval '23 hours' as "isLater" from subscriptions where id = ${id}`;
  expect(row).toEqual({ isLater: true });
  await sql`update subscriptions set notice_due_at = now() where id = ${id}`;
  await eventually(() => expect(mailServer.mails).toHaveLength(2));
});

test('a mailbox gets five mails per day, however many subscriptions are created and deleted', async () => {
  const { service, url, mailServer } = await start();
  for (let n = 0; n < 7; n++) {
    const id = await subscribe(service, {
      url,
      contact: n % 2 === 0 ? contact : contact.toUpperCase().replace('@', `+${n}@`),
    });
    await change(service);
    await untilDisabled(service, id);
    await untilQuiet(service.context.database);
    await service.delete(`${path}/${id}`).set('Authorization', writer).expect(204);
  }
  expect(mailServer.mails).toHaveLength(5);
});

test('a caller causes at most twenty mails per day, however many mailboxes its subscriptions name', async () => {
  const { service, url, mailServer, sql } = await start();
  const disableOneOf = async (mailbox: string) => {
    const id = await subscribe(service, { url, contact: mailbox });
    await change(service);
    await untilDisabled(service, id);
    await untilQuiet(service.context.database);
  };
  await disableOneOf('a@shop.example.test');
  // As after 18 more mails; one row counts the mails to the mailbox, one those by the caller.
  await sql`update subscription_notices set mails = 19`;
  await disableOneOf('b@shop.example.test');
  await disableOneOf('c@shop.example.test');
  expect(mailServer.recipients).toEqual(['a@shop.example.test', 'b@shop.example.test']);
});

test('a mail that the server refused is tried again, unless the subscription is active by then', async () => {
  const { service, url, mailServer, sql } = await start({ refusals: 1 });
  const id = await subscribe(service, { url, contact });
  await change(service);
  await eventually(async () =>
    expect(
      await sql`select from subscriptions where notice_attempts = 1 and notice_due_at > now()`,
    ).toHaveLength(1),
  );
  expect(mailServer.mails).toHaveLength(0);
  await sql`update subscriptions set notice_due_at = now() where id = ${id}`;
  await eventually(() => expect(mailServer.mails).toHaveLength(1));
  await untilQuiet(service.context.database);
  await sql`update subscriptions set notice_due_at = now() + interval '1 hour' where id = ${id}`;
  await activate(service, id);
  const due = await sql`select from subscriptions where notice_due_at is not null`;
  expect(due).toHaveLength(0);
});

test('without a contact, or a mail server, there is no mail', async () => {
  const { service, url, mailServer, sql } = await start();
  const silent = await subscribe(service, { url });
  await change(service);
  await untilDisabled(service, silent);
  await untilQuiet(service.context.database);
  expect(mailServer.received()).toBe(0);
  expect(await sql`select from subscription_notices`).toHaveLength(0);
  const other = await start({ isMailing: false });
  const id = await subscribe(other.service, { url: other.url, contact });
  await change(other.service);
  await untilDisabled(other.service, id);
  expect(other.mailServer.received()).toBe(0);
});

test.each(['a@example.test, b@example.test', 'Ann <a@example.test>', 'nobody', ''])(
  'a contact is exactly one address: %j is refused',
  async (wrong) => {
    const { service, url } = await start();
    await service
      .post(path, { url, lists: ['warehouses'], contact: wrong })
      .set('Authorization', writer)
      .expect(400);
  },
);
