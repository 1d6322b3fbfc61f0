import { atMost } from '../bounds.ts';
import type { Figure } from '../figure.ts';
import { load } from '../load.ts';
import { untilProcessed } from '../store-webhooks/inbox.ts';
import { startSystem } from './system.ts';

/** How soon the events of a process that was killed are processed by its successor, which starts at once. */
export const crash = async (): Promise<Figure[]> => {
  await using system = await startSystem('store-webhooks', { WORKERS: 'on' });
  const { service, sql, requests } = system;
  const run = async (): Promise<{ seconds: number; left: number }> => {
    await load({ url: service.url, requests, connections: 64, seconds: 3 });
    const [killed] = await sql<{ at: string; left: number }[]>`
      select clock_timestamp()::text as at, count(*)::int as left from inbox where state = 'pending'`;
    await service.kill9();
    await untilProcessed(sql);
    const [last] = await sql<{ seconds: number }[]>`
      select extract(epoch from max(finished_at) - ${killed?.at ?? ''}::timestamptz)::float8 as seconds from inbox`;
    return { seconds: last?.seconds ?? Number.NaN, left: killed?.left ?? 0 };
  };
  const runs = [await run(), await run(), await run()];
  return [
    {
      what: 'store-webhooks: kill -9 under load → all acknowledged events processed by the next process, its start included',
      bound: '≤ 5 s',
      samples: runs.map(({ seconds }) => seconds),
      unit: 's',
      holds: atMost(5),
      note: `${runs.map(({ left }) => left).join(', ')} events were waiting`,
    },
  ];
};
