import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atMost } from '../bounds.ts';
import type { Figure } from '../figure.ts';
import { load } from '../load.ts';
import { orderRequest } from '../store-webhooks/orders.ts';
import { openShop } from '../store-webhooks/shop.ts';
import { startSystem } from './system.ts';

const events = 300;

/** A POS that takes requests and never answers. */
const startHangingPos = async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** How long events of a store wait to be processed while the POS of another store hangs. */
export const stores = async (): Promise<Figure[]> => {
  await using pos = await startHangingPos();
  await using system = await startSystem('store-webhooks', { WORKERS: 'on', PROVIDER_ADDRESSES: 'any' });
  const { service, sql } = system;
  const credentials = { apiKey: 'key', authorization: 'authorization' };
  const slow = await openShop(service, { kind: 'blaze', baseUrl: pos.url, credentials });
  const other = await openShop(service);
  // The POS is asked for the cart of an order that comes without one.
  const send = (at: number) =>
    fetch(slow.address, {
      method: 'POST',
      body: JSON.stringify({ id: `s-${at}`, publicKey: `k-${at}`, status: 'A' }),
    });
  for (let at = 0; at < events; at++) await send(at);
  const requests = [orderRequest(other.address, 'other')];
  await load({ url: service.url, requests, connections: 8, seconds: 10, perSecond: 100 });
  const delays = async () => {
    const [row] = await sql<{ waiting: number; total: number; worst: number }[]>`
      select count(*) filter (where state = 'pending')::int as waiting, count(*)::int as total,
        max(extract(epoch from finished_at - received_at))::float8 as worst
      from inbox where store_id = ${other.id}`;
    return row ?? { waiting: 0, total: 0, worst: Number.NaN };
  };
  let found = await delays();
  while (found.waiting > 0) found = await delays();
  return [
    {
      what: `store-webhooks: longest time to process an event of one store while the POS of another hangs (${events} events)`,
      bound: '≤ 1 s',
      samples: [found.worst],
      unit: 's',
      holds: atMost(1),
      note: `${found.total} events at 100/s`,
    },
  ];
};
