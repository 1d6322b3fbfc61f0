import { afterAll, expect, test } from 'vitest';
import { hookEventNames, hookEvents } from '../src/webhooks.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const payments = { kind: 'threedsecureio', credentials: { apiKey: 'key' } };
const tokenIn = (url = ''): string => url.split('/').at(-1) ?? '';

type Store = Awaited<ReturnType<typeof service.store>>;
const paymentsTokenOf = ({ webhookUrls }: Store): string => tokenIn(webhookUrls['payment-auth-completed']);

/** Status of an empty webhook to each of the ten addresses. */
const open = async (token: string) => {
  const entries = hookEventNames.map(async (event) => {
    const path = hookEvents[event].service ? `${event}/threedsecureio` : event;
    return [event, (await service.hook(path, token, {})).status] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
};
const all = (status: number) => Object.fromEntries(hookEventNames.map((event) => [event, status]));

const addresses = async (id: string, event: string, token: string, from: string) =>
  (
    await service.hook(event, token, {}, { 'x-forwarded-for': from }).then(async (answer) => {
      await answer.arrayBuffer();
      return answer;
    })
  ).status;

test('the address for payment results contains a separate token that is not valid for other events', async () => {
  const store = await service.store({ payments });
  const token = paymentsTokenOf(store);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(token).not.toBe(store.webhookToken);
  expect(await open(token)).toEqual({ ...all(404), 'payment-auth-completed': 200 });
});

test('the store token is valid for all ten events, unless the store forbids it for payment results', async () => {
  const store = await service.store({ payments });
  expect(await open(store.webhookToken)).toEqual(all(200));
  const strict = await service.store({ payments: { ...payments, acceptStoreToken: false } });
  expect(await open(strict.webhookToken)).toEqual({ ...all(200), 'payment-auth-completed': 404 });
  expect((await open(paymentsTokenOf(strict)))['payment-auth-completed']).toBe(200);
});

test('if one payment provider forbids the store token, it is forbidden for all; other changes keep that setting', async () => {
  const store = await service.store({
    payments: [{ kind: 'netcetera' }, { ...payments, acceptStoreToken: false }],
  });
  expect((await open(store.webhookToken))['payment-auth-completed']).toBe(404);
  const changed = await service.admin('PATCH', `/v1/stores/${store.id}`, {
    payments: { kind: 'threedsecureio', baseUrl: 'https://other.example.test' },
  });
  expect(changed.body).toMatchObject({ payments: [{ acceptStoreToken: false }] });
});

test('each token is rotated independently, and the answer contains the addresses with the new one', async () => {
  const store = await service.store({ payments });
  const old = paymentsTokenOf(store);
  const rotate = (body: object) =>
    service.admin('POST', `/v1/stores/${store.id}/webhook-token/rotate`, { graceSeconds: 0, ...body });
  const rotated = (await rotate({ for: 'payments' })).body as unknown as {
    webhookToken: string;
    webhookUrls: Record<string, string>;
  };
  expect(Object.keys(rotated.webhookUrls)).toEqual(['payment-auth-completed']);
  expect(tokenIn(rotated.webhookUrls['payment-auth-completed'])).toBe(rotated.webhookToken);
  await expect.poll(async () => (await open(old))['payment-auth-completed']).toBe(404);
  expect((await open(rotated.webhookToken))['payment-auth-completed']).toBe(200);
  expect((await open(store.webhookToken))['order_updated']).toBe(200);

  const events = (await rotate({})).body as unknown as { webhookUrls: Record<string, string> };
  expect(Object.keys(events.webhookUrls)).toHaveLength(9);
  await expect.poll(async () => (await open(store.webhookToken))['order_updated']).toBe(404);
  expect((await open(rotated.webhookToken))['payment-auth-completed']).toBe(200);
  expect((await rotate({ for: 'orders' })).body).toMatchObject({ code: 'validation_failed' });
});

test('a store keeps its last 20 replaced tokens; one more ends the one that would have ended first', async () => {
  const { id, webhookToken } = await service.store();
  const orderWith = async (token: string) => (await open(token))['order_updated'];
  const tokens = [webhookToken];
  const rotate = async () => {
    const body = { graceSeconds: 3600 + tokens.length };
    const rotated = await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, body);
    tokens.push((rotated.body as unknown as { webhookToken: string }).webhookToken);
  };
  for (let n = 0; n < 20; n++) await rotate();
  expect(await orderWith(webhookToken)).toBe(200);
  await rotate();
  const works = async () => (await Promise.all(tokens.map(orderWith))).filter((status) => status === 200);
  await expect.poll(works).toHaveLength(21);
  expect(await orderWith(webhookToken)).toBe(404);
});

test("allowedAddresses applies to providers, not to the customer's browser that sends a payment result", async () => {
  const store = await service.store({ payments, allowedAddresses: ['192.0.2.0/24'] });
  const { id, webhookToken } = store;
  expect(await addresses(id, 'order_updated', webhookToken, '203.0.113.9')).toBe(403);
  expect(
    await addresses(id, 'payment-auth-completed/threedsecureio', paymentsTokenOf(store), '203.0.113.9'),
  ).toBe(200);
});
