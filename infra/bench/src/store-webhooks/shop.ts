import type { BenchService } from '../service.ts';
import { sendOrders, type Sent } from './load.ts';

/** What the service is started with, besides what the measurement wants. */
export const settings = { SECRETS_KEY: 'ab'.repeat(32), SPOOL_DIR: '/tmp/bench-spool' };

export interface Shop {
  id: string;
  /** Where its orders go. */
  address: string;
}

/** A shop with Blaze as its POS. */
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
  return { id, address: `${url}/api/v1/hooks/order_updated/${webhookToken}` };
};

let batch = 0;

/** Acknowledged events a second and their latency over so many seconds; throws unless all were taken. */
export const acknowledge = ({ address }: Shop, seconds: number): Promise<Sent> =>
  sendOrders(address, `b${batch++}`, seconds);
