import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';
import { startMailServer } from './mail-server.ts';

test(
  'customers and the shop get each notification by mail once, also after the server refused it',
  { timeout: 20_000 },
  async () => {
    await using server = await startMailServer(2);
    await using service = await startService({
      variables: { SMTP_URL: server.url, SMTP_FROM: 'shop@example.test' },
    });
    const { id, webhookToken } = await service.store({
      name: 'Tea\r\nBcc: all@example.test',
      notifications: { email: 'owner@example.test' },
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
  },
);
