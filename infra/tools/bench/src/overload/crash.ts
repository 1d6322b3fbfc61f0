import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, repeat, type Figure } from '../figure.ts';
import { load } from '../load.ts';
import { openShop, orderRequest, startWebhooks, untilProcessed } from '../subjects/store-webhooks.ts';
import { onOwnCores } from './system.ts';

/** How soon the events of a process that was killed are processed by its successor, which starts at once. */
export const crash = async (): Promise<Figure[]> => {
  await using service = await onOwnCores(startWebhooks);
  const { url, sql } = service;
  const requests = [orderRequest(await openShop(service))];
  const runs = await repeat(3, async () => {
    const loading = load({ url, requests, connections: 64, seconds: 3 });
    await sleep(2000);
    const [killed] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`;
    await service.kill9();
    await loading;
    await untilProcessed(sql);
    const at = killed?.at ?? '';
    // From the kill to the end of the last event that was stored before it.
    const [left] = await sql<[{ seconds: number; events: number }]>`
      select coalesce(extract(epoch from max(finished_at) - ${at}::timestamptz), 0)::float8 as seconds,
        count(*)::int as events
      from inbox where received_at <= ${at}::timestamptz and finished_at > ${at}::timestamptz`;
    return left;
  });
  return [
    {
      what: 'store-webhooks: kill -9 under load → its events processed by the next process, whose start is included',
      bound: atMost(5, 's'),
      samples: runs.map(({ seconds }) => seconds),
      note: `${runs.map(({ events }) => events).join(', ')} events were left`,
    },
  ];
};
