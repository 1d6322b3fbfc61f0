import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';

const secret = 'secret-of-the-gateway-0123456789abcdef';
const connections = 200;
const sent = 40;

/** Posts a body like the gateway for a client with this address. Returns the status. */
const post = (url: string, agent: Agent, address: string, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { 'x-gateway-secret': secret, 'x-forwarded-for': address };
    const req = request(url, { method: 'POST', agent, headers }, (res) => {
      res.resume().once('end', () => resolve(res.statusCode ?? 0));
    });
    req.once('error', reject).end(body);
  });

test('junk with a payment token on 200 connections of one network blocks no webhook of another network', async () => {
  await using service = await startService({ work: false });
  await using running = await startProcess(service, { GATEWAY_SECRET: secret, MAX_IN_PROGRESS: '100' });
  const attacked = await service.store({ payments: { kind: 'threedsecureio' } });
  const other = await service.store();
  const paymentUrl = running.url + new URL(attacked.webhookUrls['payment-auth-completed'] ?? '').pathname;
  const junk = new Agent({ keepAlive: true, maxSockets: connections });
  let isFlooding = true;
  let answered = 0;
  const flood = Array.from({ length: connections }, async (_, connection) => {
    for (let n = 0; isFlooding; n++) {
      const body = JSON.stringify({ service: 'threedsecureio', transactionId: `${connection}-${n}` });
      await post(paymentUrl, junk, '203.0.113.1', body);
      answered++;
    }
  });
  await expect.poll(() => answered).toBeGreaterThan(2 * connections);
  const webhooks = new Agent({ keepAlive: true });
  const orderUrl = `${running.url}/api/v1/hooks/order_updated/${other.webhookToken}`;
  const answers: number[] = [];
  for (let n = 0; n < sent; n++) {
    answers.push(
      await post(orderUrl, webhooks, '198.51.100.7', JSON.stringify({ id: `o-${n}`, status: 'A' })),
    );
  }
  isFlooding = false;
  await Promise.all(flood);
  junk.destroy();
  webhooks.destroy();
  expect(answers).toEqual(Array<number>(sent).fill(200));
});
