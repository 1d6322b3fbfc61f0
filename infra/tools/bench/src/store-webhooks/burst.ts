import postgres, { type Sql } from 'postgres';
import { claim } from 'store-webhooks/claim-events';
import { endEvents } from 'store-webhooks/end-events';
import { plansByIndex } from 'store-webhooks/plans';
import { repeat, type Figure } from '../figure.ts';
import { startBackingServices, startService } from '../service.ts';
import { createClaimer } from './inbox.ts';
import { openShop, settings } from './shop.ts';

const burst = 20_000;
const others = 1000;

/** Inserts pending events: all of the order `entity` if given, else each of its own order. */
const add = async (sql: Sql, storeId: string, run: string, rows: number, entity?: string): Promise<void> => {
  await sql`
    with added as (
      insert into events (store_id, id, event, entity, dedup, body, headers, received_at)
      select ${storeId}, uuidv7(), 'order_updated', coalesce(${entity ?? null}::text, 'order:' || ${run} || n),
      decode(md5(${run} || n) || substr(md5(n || ${run}), 1, 16), 'hex'), convert_to(repeat('x', 1200), 'utf8'),
        '{}', now()
      from generate_series(1, ${rows}::int) as n returning store_id, entity, id)
    insert into queue (store_id, entity, id, queued_at, due_at, attempts)
    select store_id, entity, id, now(), now(), 0 from added`;
};

/** Milliseconds until every claimable event is claimed and finished. */
const drain = async (sql: Sql): Promise<number> => {
  const start = performance.now();
  const claimer = createClaimer();
  for (
    let claimed = await claim(sql, claimer, 64);
    claimed.length > 0;
    claimed = await claim(sql, claimer, 64)
  ) {
    const ended = claimed.filter(({ entity }) => entity !== 'order:hot');
    await sql.begin((tx) => endEvents(tx, ended));
  }
  return performance.now() - start;
};

/** How much a burst of events of one order slows down the events of other orders. */
export const burstOfOne = async (): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  await using service = await startService('store-webhooks', backing, { ...settings, WORKERS: 'off' });
  const { id } = await openShop(service);
  const sql = postgres(service.databaseUrl, {
    max: 1,
    onnotice: () => undefined,
    connection: plansByIndex,
  });
  const timed = async (run: string): Promise<number> => {
    await add(sql, id, run, others);
    return drain(sql);
  };
  await timed('warm');
  const alone = await repeat(5, (run) => timed(`alone-${run}`));
  await add(sql, id, 'hot', burst, 'order:hot');
  const first = await drain(sql);
  const behind = await repeat(5, (run) => timed(`behind-${run}`));
  await sql.end();
  return [
    {
      what: '1,000 events claimed and marked while 20,000 of one order wait for each other, against without',
      bound: '≤ 1.2 ×',
      samples: behind.map((ms, run) => ms / (alone[run] ?? Number.NaN)),
      unit: '×',
      holds: (ratio) => ratio <= 1.2,
      note: `the burst itself is scanned once, in ${(first / 1000).toFixed(1)} s`,
    },
  ];
};
