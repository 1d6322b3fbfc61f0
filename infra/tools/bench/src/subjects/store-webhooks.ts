import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { COUNTER, type LoadRequest } from '../load.ts';
import { startService, type BenchService } from '../service.ts';

/** `WORKERS: 'off'`: webhooks are stored and not processed. */
export const startWebhooks = (settings: Record<string, string> = {}): Promise<BenchService> =>
  startService('store-webhooks', { SECRETS_KEY: 'ab'.repeat(32), ...settings });

export interface Shop {
  id: string;
  /** Its token, the last part of the path of its webhooks. */
  token: string;
}

/** Creates a store with Blaze as its POS. */
export const openShop = async ({ url, keys }: BenchService): Promise<Shop> => {
  const answer = await fetch(`${url}/v1/stores`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await keys.token({ scope: 'stores:admin' })}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'Bench', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } }),
  });
  const { id, webhookToken } = (await answer.json()) as { id: string; webhookToken: string };
  return { id, token: webhookToken };
};

/** A Blaze order of about 1.2 kB with five items. */
const orderBody = (id: string): string => {
  const items = [1, 2, 3, 4, 5].map((at) => ({
    productId: `p-${at}`,
    productName: `Product number ${at} of the shop`,
    quantity: at,
    price: 12.5,
    totalPrice: 12.5 * at,
  }));
  const sums = { subTotal: 187.5, discount: 0, deliveryFee: 5, total: 192.5, taxTotal: 0, promoCode: null };
  const known = { id, orderNo: '1001', status: 'PENDING', consumerId: 'c-1', memo: '', publicKey: 'pk-1' };
  const order = { ...known, cart: { ...sums, items } };
  return JSON.stringify({ ...order, memo: 'n'.repeat(1200 - JSON.stringify(order).length) });
};

let runs = 0;

/** A webhook whose order id is different each time it is sent, and from those of other calls. */
export const orderRequest = ({ token }: Shop): LoadRequest => ({
  method: 'POST',
  path: `/api/v1/hooks/order_updated/${token}`,
  headers: { 'Content-Type': 'application/json' },
  body: orderBody(`b${runs++}-${COUNTER}`),
});

/** Waits until a queue is empty, which is that of the service unless `jobs` names others, as `table where …`. */
export const untilProcessed = async (sql: Sql, jobs = sql`queue`): Promise<void> => {
  for (;;) {
    const [row] = await sql<{ waiting: boolean }[]>`select exists (select from ${jobs}) as waiting`;
    if (!row?.waiting) return;
    await sleep(25);
  }
};
