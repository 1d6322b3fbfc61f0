import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';
import { startMailServer } from '@platform/mail/testing';

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
const mailed = async (service: Awaited<ReturnType<typeof startService>>, id: string) => {
  const states = async () => {
    const { body } = await service.admin('GET', `/v1/stores/${id}/notifications`);
    return (body['notifications'] as unknown as { mail: string }[]).map(({ mail }) => mail);
  };
  await expect.poll(states).not.toContain('pending');
  return states();
};

test('an address gets at most 50 mails of a store in a day, however many customers have it', async () => {
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
  await expect.poll(async () => (await mailed(service, id)).length).toBeGreaterThan(0);
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

  // From a webhook, from the POS when the member is imported, and in a row from before the check.
  await service.hook('new_member', webhookToken, { id: 'c-2', email: many });
  standIn.members.set('c-3', { id: 'c-3', email: `Ann <ann@example.test>, ${many}` });
  await service.hook('new_member', webhookToken, { id: 'c-3', email: 'ann@example.test' });
  await service.settled();
  const { sql } = service.context.database;
  await sql`update users set email = ${many} where consumer_user_id = 'c-3'`;
  for (const consumerId of ['c-2', 'c-3'])
    await service.hook('order_updated', webhookToken, { id: consumerId, status: 'A', consumerId });
  await service.settled();
  expect(new Set(await mailed(service, id))).toEqual(new Set(['no_address', 'off']));
  expect(server.recipients).toEqual([]);
});

test.each<[string, object, string | null]>([
  ['several addresses', { email: many }, null],
  ['an address that no mail can be sent to', { email: 'jörg@müller.example' }, null],
  ['no address', {}, 'ann@example.test'],
])(
  'after a member_updated with %s, mails go to no address that the POS does not have any more',
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
    expect(await mailed(service, id)).toEqual(['sent']);
    const [mail = ''] = server.mails;
    expect(/^Subject: (.*?)\r$/m.exec(mail)?.[1]).toMatch(new RegExp(`^Tea shop: ${line}$`));
    expect(mail).not.toMatch(/evil|Bcc|free text|9{12}|Z{12}/);
    expect(server.recipients).toEqual(['ann@example.test']);
  },
);
