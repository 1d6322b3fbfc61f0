import postgres from 'postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import { repeat, type Figure } from '../figure.ts';
import { startBackingServices, startService } from '../service.ts';
import { fillInbox, untilProcessed } from './inbox.ts';
import { acknowledge, openShop, settings } from './shop.ts';

const seconds = 4;
const kept = 200_000;
const pruningNow = { WORKERS: 'on', PRUNE_PAUSE_MS: '0' };

/** A service on a server of its own, whose 200,000 processed events are `days` old; those of 30 days and more are pruned. */
const start = async (days: number) => {
  const stack = new AsyncDisposableStack();
  const backing = stack.use(await startBackingServices());
  const service = stack.use(await startService('store-webhooks', backing, { ...settings, WORKERS: 'off' }));
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  stack.defer(() => sql.end());
  const shop = await openShop(service);
  await fillInbox(sql, shop.id, kept, days);
  const old = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from events where entity like 'order:old-%'`;
    return row?.count ?? Number.NaN;
  };
  return {
    old,
    /** Pruning begins with the process, and goes on from where it was. */
    run: async () => {
      await service.restart(pruningNow);
      await acknowledge(shop, 1);
      await untilProcessed(sql);
      const start = performance.now();
      const { answered } = await acknowledge(shop, seconds);
      await untilProcessed(sql);
      const ms = (performance.now() - start) / answered;
      const left = await old();
      await service.restart({ WORKERS: 'off' });
      return { ms, left };
    },
    /** Seconds until the last old event is gone. */
    finish: async (): Promise<number> => {
      await service.restart(pruningNow);
      const start = performance.now();
      while ((await old()) > 0) await sleep(500);
      return (performance.now() - start) / 1000;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** The same processing with pruning against without. */
export const pruning = async (): Promise<Figure[]> => {
  await using young = await start(1);
  await using old = await start(40);
  const measured = await repeat(3, async () => {
    const without = await young.run();
    const meanwhile = await old.run();
    if (without.left !== kept) throw new Error('young events were pruned');
    if (meanwhile.left === 0) throw new Error('pruning was over before the measurement was');
    return { ratio: meanwhile.ms / without.ms, left: meanwhile.left };
  });
  const seconds = await old.finish();
  return [
    {
      what: 'processing while 200,000 processed events are pruned against the same without',
      bound: '≤ 1.2 ×',
      samples: measured.map(({ ratio }) => ratio),
      unit: '×',
      holds: (ratio) => ratio <= 1.2,
      note: `left after each run: ${measured.map(({ left }) => left).join(', ')}; none ${seconds.toFixed(0)} s later`,
    },
  ];
};
