import { load, type LoadResult } from '../load.ts';
import type { BenchService } from '../service.ts';
import { orderRequest } from './orders.ts';

/** Settings of the service, in addition to those of the measurement. */
export const settings = { SECRETS_KEY: 'ab'.repeat(32), SPOOL_DIR: '/tmp/bench-spool' };

export interface Shop {
  id: string;
  /** The webhook address of its orders. */
  address: string;
}

/** Creates a store with Blaze as its POS; `pos` may say where that is. */
export const openShop = async (
  { url, keys }: BenchService,
  pos: object = { kind: 'blaze' },
): Promise<Shop> => {
  const answer = await fetch(`${url}/v1/stores`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await keys.token({ scope: 'stores:admin' })}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'Bench', storeUrl: 'https://shop.example.test/', pos }),
  });
  const { id, webhookToken } = (await answer.json()) as { id: string; webhookToken: string };
  return { id, address: `${url}/api/v1/hooks/order_updated/${webhookToken}` };
};

const connections = 64;
let batch = 0;

/** Sends different orders for `seconds`; throws if any is rejected. */
export const acknowledge = async ({ address }: Shop, seconds: number): Promise<LoadResult> => {
  const requests = [orderRequest(address, `b${batch++}`)];
  const result = await load({ url: new URL(address).origin, requests, connections, seconds });
  if (result.failed > 0) throw new Error(`${result.failed} webhooks were rejected`);
  return result;
};
