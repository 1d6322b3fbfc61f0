import postgres from 'postgres';
import { repeat, type Figure } from '../figure.ts';
import { startBackingServices, startService } from '../service.ts';
import { untilProcessed } from './inbox.ts';
import { acknowledge, openShop, settings } from './shop.ts';

const seconds = 5;

/** Events from the first byte sent until the last one is processed, all the while under full load. */
export const processed = async (): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  await using service = await startService('store-webhooks', backing, settings);
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  const shop = await openShop(service);
  const run = async () => {
    const start = performance.now();
    const { answered, p99 } = await acknowledge(shop, seconds);
    await untilProcessed(sql);
    return { perSecond: (answered / (performance.now() - start)) * 1000, p99 };
  };
  await run();
  const measured = await repeat(5, run);
  await sql.end();
  return [
    {
      what: 'processed events (order_updated with 5 items), workers in the same process, under full load',
      bound: '≥ 1,500 /s',
      samples: measured.map(({ perSecond }) => perSecond),
      unit: '/s',
      holds: (perSecond) => perSecond >= 1500,
    },
    {
      what: 'p99 of the acknowledgement meanwhile',
      bound: '≤ 100 ms',
      samples: measured.map(({ p99 }) => p99),
      unit: 'ms',
      holds: (ms) => ms <= 100,
    },
  ];
};
