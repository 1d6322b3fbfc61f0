import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { COUNTER, type LoadRequest } from '../load.ts';
import { startService, type BenchService } from '../service.ts';

/** Starts store-webhooks. With the setting `WORKERS: 'off'` it stores webhooks without processing them. */
export const startWebhooks = (settings: Record<string, string> = {}): Promise<BenchService> =>
  startService('store-webhooks', { SECRETS_KEY: 'ab'.repeat(32), ...settings });

export interface Store {
  id: string;
  /** Last part of the path of its webhooks. */
  token: string;
}

/** Creates a store with Blaze as its POS. */
export const createStore = async ({ url, keys }: BenchService): Promise<Store> => {
  const response = await fetch(`${url}/v1/stores`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await keys.token({ scope: 'stores:admin' })}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'Bench', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } }),
  });
  const { id, webhookToken } = (await response.json()) as { id: string; webhookToken: string };
  return { id, token: webhookToken };
};

/** A Blaze order of about 1.2 kB with five items. */
const orderBody = (id: string): string => {
  const items = [1, 2, 3, 4, 5].map((n) => ({
    productId: `p-${n}`,
    productName: `Product number ${n} of the shop`,
    quantity: n,
    price: 12.5,
    totalPrice: 12.5 * n,
  }));
  const sums = { subTotal: 187.5, discount: 0, deliveryFee: 5, total: 192.5, taxTotal: 0, promoCode: null };
  const details = { id, orderNo: '1001', status: 'PENDING', consumerId: 'c-1', memo: '', publicKey: 'pk-1' };
  const order = { ...details, cart: { ...sums, items } };
  return JSON.stringify({ ...order, memo: 'n'.repeat(1200 - JSON.stringify(order).length) });
};

let seriesCount = 0;

/** A webhook with a unique order id each time it is sent. */
export const orderRequest = ({ token }: Store): LoadRequest => ({
  method: 'POST',
  path: `/api/v1/hooks/order_updated/${token}`,
  headers: { 'Content-Type': 'application/json' },
  body: orderBody(`b${seriesCount++}-${COUNTER}`),
});

/** Waits until a table of jobs is empty. */
export const waitUntilProcessed = async (sql: Sql, jobs = sql`queue`): Promise<void> => {
  for (;;) {
    const [row] = await sql<{ waiting: boolean }[]>`select exists (select from ${jobs}) as waiting`;
    if (!row?.waiting) return;
    await sleep(25);
  }
};
