import { describe, expect, test } from 'vitest';
import { startService, type Json } from './harness.ts';
import { startMailServer } from '@platform/mail/testing';

type Service = Awaited<ReturnType<typeof startService>>;

const email = 'ann@example.test';
const staff = { email: 'owner@example.test' };
const enabled = { enabled: true };
const order = (status: string, more: object = {}) => ({
  id: 'o-1',
  orderNo: '1002',
  status,
  consumerId: 'c-1',
  ...more,
});

interface Entry {
  kind: string;
  audience: string;
  change: string;
  subject: string;
  mail: string;
}

const entriesOf = async (service: Service, id: string) =>
  (await service.admin('GET', `/v1/stores/${id}/notifications`)).body['notifications'] as unknown as Entry[];

/** The state of each mail after all are sent, by audience, kind and change. */
const statesOf = async (service: Service, id: string) => {
  await service.settled();
  await expect
    .poll(async () => (await entriesOf(service, id)).map(({ mail }) => mail))
    .not.toContain('pending');
  const entries = await entriesOf(service, id);
  return Object.fromEntries(
    entries.map(({ kind, audience, change, mail }) => [`${audience} ${kind} ${change}`, mail]),
  );
};

const withMail = async (notifications: object, user: object | null = {}) => {
  const server = await startMailServer();
  const service = await startService({
    variables: { SMTP_URL: server.url, SMTP_FROM: 'mail@platform.test' },
  });
  const { id, webhookToken } = await service.store({ name: 'Corner', notifications });
  if (user !== null)
    await service.admin('POST', `/v1/stores/${id}/users`, { consumerUserId: 'c-1', email, ...user });
  return {
    server,
    service,
    id,
    hook: (event: string, body: object) => service.hook(event, webhookToken, body),
    states: () => statesOf(service, id),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
};

const headersOf = (mail: string | undefined, name: string) =>
  new RegExp(`^${name}: (.*?)\\r$`, 'm').exec(mail ?? '')?.[1];

describe('the recipient of the mails of a store', () => {
  test('is nobody by default, and the log has every change', async () => {
    await using shop = await withMail({});
    await shop.hook('order_updated', order('READY'));
    await shop.hook('job_started', { id: 'j-1', orderId: 'o-1' });
    await shop.hook('new_member', { id: 'm-1' });
    expect(await shop.states()).toEqual({
      'customer order READY': 'off',
      'customer delivery started': 'off',
      'store delivery started': 'off',
      'store member created': 'off',
    });
    expect(shop.server.mails).toEqual([]);
  });

  test('is the customer, for the chosen statuses and delivery events', async () => {
    await using shop = await withMail({
      customers: { enabled: true, orderStatuses: ['READY'], deliveryEvents: ['completed'] },
    });
    for (const status of ['ACCEPTED', 'READY']) await shop.hook('order_updated', order(status));
    for (const event of ['job_started', 'job_completed'])
      await shop.hook(event, { id: 'j-1', orderId: 'o-1' });
    expect(await shop.states()).toMatchObject({
      'customer order ACCEPTED': 'off',
      'customer order READY': 'sent',
      'customer delivery started': 'off',
      'customer delivery completed': 'sent',
    });
    expect(shop.server.recipients).toEqual([email, email]);
  });

  test('is the shop, for the chosen kinds of changes, such as verifications', async () => {
    await using shop = await withMail({ staff: { ...staff, events: ['verification'] } });
    const verification = { service: 'persona', transactionId: 't-1', userId: 'c-1' };
    await shop.hook('identity-verification-updated/persona', { ...verification, status: 'PENDING' });
    await shop.service.settled();
    for (let time = 0; time < 2; time += 1)
      await shop.hook('identity-verification-completed/persona', { ...verification, status: 'APPROVED' });
    await shop.hook('new_member', { id: 'm-1' });
    expect(await shop.states()).toEqual({
      'store verification PENDING': 'sent',
      'store verification APPROVED': 'sent',
      'store member created': 'off',
    });
    expect(shop.server.recipients).toEqual([staff.email, staff.email]);
    expect(shop.server.mails.join()).not.toContain('t-1');
  });

  test('is determined again when a mail is sent', async () => {
    await using shop = await withMail({ customers: enabled }, null);
    await shop.hook('order_updated', order('READY'));
    expect(await shop.states()).toEqual({ 'customer order READY': 'no_address' });
    const settings = { notifications: { customers: { enabled: false } } };
    expect((await shop.service.admin('PATCH', `/v1/stores/${shop.id}`, settings)).status).toBe(200);
    await shop.service.admin('POST', `/v1/stores/${shop.id}/users`, { consumerUserId: 'c-1', email });
    expect(await shop.states()).toEqual({ 'customer order READY': 'off' });
    const [entry] = (await shop.service.admin('GET', `/v1/stores/${shop.id}/notifications`)).body[
      'notifications'
    ] as unknown as { id: string }[];
    const resend = `/v1/stores/${shop.id}/notifications/${entry?.id}/resend`;
    expect(await shop.service.admin('POST', resend)).toMatchObject({
      status: 409,
      body: { code: 'mail_unwanted' },
    });
    expect(shop.server.mails).toEqual([]);
  });
});

describe('the recipient is looked up when the mail is sent', () => {
  test('of a delivery that arrived before its order', async () => {
    await using shop = await withMail({ customers: enabled });
    await shop.hook('job_started', { id: 'j-1', orderId: 'o-1' });
    expect(await shop.states()).toMatchObject({ 'customer delivery started': 'no_address' });
    await shop.hook('order_updated', order('READY'));
    expect(await shop.states()).toMatchObject({
      'customer delivery started': 'sent',
      'customer order READY': 'sent',
    });
    expect(shop.server.mails.join()).toContain('Your order 1002 is on its way.');
  });

  test('of an order whose customer is a member but no user, also if the member arrives later', async () => {
    await using shop = await withMail({ customers: enabled }, null);
    await shop.hook('order_updated', order('READY'));
    expect(await shop.states()).toMatchObject({ 'customer order READY': 'no_address' });
    await shop.hook('member_updated', { id: 'c-1', email });
    expect(await shop.states()).toMatchObject({ 'customer order READY': 'sent' });
    await shop.hook('order_updated', order('DONE'));
    expect(await shop.states()).toMatchObject({ 'customer order DONE': 'sent' });
    expect(shop.server.recipients).toEqual([email, email]);
  });
});

describe('a mail to a customer', () => {
  test('has the name of the store or the configured name as sender, and its Reply-To', async () => {
    await using shop = await withMail({ customers: enabled });
    await shop.hook('order_updated', order('READY'));
    await shop.states();
    expect(headersOf(shop.server.mails[0], 'From')).toBe('Corner <mail@platform.test>');
    const customers = { fromName: 'Corner "Shop"', replyTo: 'help@corner.test' };
    await shop.service.admin('PATCH', `/v1/stores/${shop.id}`, { notifications: { customers } });
    await shop.hook('order_updated', order('DONE'));
    await shop.states();
    expect(headersOf(shop.server.mails[1], 'From')).toBe(String.raw`"Corner \"Shop\"" <mail@platform.test>`);
    expect(headersOf(shop.server.mails[1], 'Reply-To')).toBe('help@corner.test');
  });

  test.each([
    ['en', undefined, 'Corner: Your order 1002', 'Your order 1002 is now READY.'],
    ['de', undefined, 'Corner: Ihre Bestellung 1002', 'Ihre Bestellung 1002 hat jetzt den Status READY.'],
    ['en', 'de-AT', 'Corner: Ihre Bestellung 1002', 'Ihre Bestellung 1002 hat jetzt den Status READY.'],
    ['en', 'DE', 'Corner: Ihre Bestellung 1002', 'Ihre Bestellung 1002 hat jetzt den Status READY.'],
    ['de', 'fr', 'Corner: Ihre Bestellung 1002', 'Ihre Bestellung 1002 hat jetzt den Status READY.'],
  ])(
    'of a store that writes %s is in the language of a customer who reads %s',
    async (language, userLanguage, subject, text) => {
      await using shop = await withMail(
        { customers: { enabled: true, language } },
        { language: userLanguage },
      );
      await shop.hook('order_updated', order('READY'));
      await shop.states();
      expect(headersOf(shop.server.mails[0], 'Subject')).toBe(subject);
      expect(shop.server.mails[0]).toContain(text);
    },
  );

  test('names an order by the number that customers see, never by an id', async () => {
    await using shop = await withMail({ customers: enabled, staff });
    await shop.hook('order_updated', order('READY', { id: 'internal-77', orderNo: null }));
    await shop.hook('job_started', { id: 'internal-88', orderId: 'internal-77' });
    const states = await shop.states();
    expect(Object.values(states)).toEqual(['sent', 'sent', 'sent']);
    expect(shop.server.mails.join()).not.toContain('internal-');
    const subjects = (await entriesOf(shop.service, shop.id)).map(({ subject }) => subject);
    expect(subjects.join()).not.toContain('internal-');
  });
});

describe('a preview', () => {
  const preview = async (service: Service, id: string, body: object) =>
    service.admin('POST', `/v1/stores/${id}/notifications/preview`, body);

  test('shows the mail of a change and whether the store wants it, and sends nothing', async () => {
    await using service = await startService();
    const customers = { enabled: true, deliveryEvents: ['completed'], replyTo: 'help@corner.test' };
    const { id } = await service.store({ name: 'Corner', notifications: { customers } });
    const delivery = { audience: 'customer', kind: 'delivery', orderNo: '1002', language: 'de' };
    expect(await preview(service, id, { ...delivery, change: 'completed' })).toMatchObject({
      status: 200,
      body: {
        isWanted: true,
        fromName: 'Corner',
        replyTo: 'help@corner.test',
        subject: 'Corner: Ihre Bestellung 1002 wurde zugestellt',
        text: 'Ihre Bestellung 1002 wurde zugestellt.\n',
      },
    });
    expect((await preview(service, id, { ...delivery, change: 'started' })).body).toMatchObject({
      isWanted: false,
    });
    expect(await entriesOf(service, id)).toEqual([]);
  });

  test.each([
    [{ audience: 'customer', kind: 'member', change: 'created' }, 'audience'],
    [{ audience: 'store', kind: 'order', change: 'READY' }, 'audience'],
    [{ audience: 'store', kind: 'delivery', change: 'READY' }, 'change'],
  ])('of %j is refused', async (body, field) => {
    await using service = await startService();
    const { id } = await service.store();
    const refused = await preview(service, id, body);
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body['errors'] as Json)).toEqual([field]);
  });
});

describe('the settings of notifications', () => {
  const created = { staff: null, customers: { enabled: false, language: 'en' } };

  test('are off at first, and are changed by merge patches', async () => {
    await using service = await startService();
    const { id } = await service.store();
    const change = async (notifications: object | null) =>
      (await service.admin('PATCH', `/v1/stores/${id}`, { notifications })).body['notifications'];
    expect((await service.admin('GET', `/v1/stores/${id}`)).body['notifications']).toEqual(created);
    const customers = { enabled: true, language: 'en', orderStatuses: ['READY'] };
    expect(await change({ staff, customers: { enabled: true, orderStatuses: ['READY'] } })).toEqual({
      email: staff.email,
      staff,
      customers,
    });
    expect(await change({ customers: { orderStatuses: null, language: 'de' } })).toMatchObject({
      staff,
      customers: { enabled: true, language: 'de' },
    });
    expect(await change({ staff: null })).toMatchObject({ staff: null });
    expect(await change(null)).toEqual(created);
  });

  test('accept `email` as the address of the shop', async () => {
    await using service = await startService();
    const { id } = await service.store({ notifications: { email: 'old@example.test' } });
    const read = async () => (await service.admin('GET', `/v1/stores/${id}`)).body['notifications'];
    expect(await read()).toMatchObject({ staff: { email: 'old@example.test' } });
    await service.admin('PATCH', `/v1/stores/${id}`, { notifications: { staff: { events: ['member'] } } });
    await service.admin('PATCH', `/v1/stores/${id}`, { notifications: { email: staff.email } });
    expect(await read()).toMatchObject({ staff: { ...staff, events: ['member'] } });
    const both = { email: staff.email, staff: { email: 'new@example.test' } };
    await service.admin('PATCH', `/v1/stores/${id}`, { notifications: both });
    expect(await read()).toMatchObject({ staff: { email: 'new@example.test' } });
    await service.admin('PATCH', `/v1/stores/${id}`, { notifications: { email: null } });
    expect(await read()).toEqual(created);
  });

  test.each([
    [{ email: 'a@example.test', staff }, 'notifications'],
    [{ staff: { events: ['member'] } }, 'notifications.staff.email'],
    [{ staff: { ...staff, events: ['order'] } }, 'notifications.staff.events.0'],
    [{ customers: { deliveryEvents: ['lost'] } }, 'notifications.customers.deliveryEvents.0'],
    [{ customers: { language: 'fr' } }, 'notifications.customers.language'],
    [{ customers: { fromName: 'A\r\nBcc: b@example.test' } }, 'notifications.customers.fromName'],
    [{ customers: { replyTo: 'a@example.test, b@example.test' } }, 'notifications.customers.replyTo'],
  ])('%j are rejected with the name of the field', async (notifications, field) => {
    await using service = await startService();
    const shop = { name: 'Corner', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } };
    const refused = await service.admin('POST', '/v1/stores', { ...shop, notifications });
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body['errors'] as Json)).toEqual([field]);
  });
});
