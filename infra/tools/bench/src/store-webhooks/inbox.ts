import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { claim } from 'store-webhooks/claim-events';
import type { Sql } from 'postgres';

/** Fills the inbox with events of a store that were processed long ago, `days` ago. */
export const fillInbox = async (sql: Sql, storeId: string, rows: number, days = 1): Promise<void> => {
  await sql`
    with filled as (
      insert into events (store_id, id, event, entity, dedup, body, headers, received_at)
      select ${storeId}, uuidv7(make_interval(days => ${-days})), 'order_updated', 'order:old-' || n,
      decode(md5(n::text) || substr(md5(n || 'x'), 1, 16), 'hex'), convert_to(repeat('x', 1200), 'utf8'),
      '{"content-type": "application/json"}', now() - make_interval(days => ${days})
      from generate_series(1, ${rows}::int) as n
      on conflict do nothing returning store_id, id)
    insert into results (store_id, id, state, attempts, finished_at)
    select store_id, id, 'done', 1, now() from filled`;
  await sql`vacuum analyze events, results`;
};

/** Waits until nothing is left to be processed. */
export const untilProcessed = async (sql: Sql): Promise<void> => {
  for (;;) {
    const [row] = await sql<{ waiting: boolean }[]>`select exists (select from queue) as waiting`;
    if (!row?.waiting) return;
    await sleep(25);
  }
};

/** A worker that may keep its events for ten minutes. */
export const createClaimer = () => ({ worker: randomUUID(), keepMs: 600_000 });

/** Milliseconds that claiming 64 events takes, the median of some, each rolled back. */
export const claimTime = async (sql: Sql, take: typeof claim) => {
  const claimer = createClaimer();
  const times: number[] = [];
  for (let at = 0; at < 31; at++) {
    await sql
      .begin(async (tx) => {
        const start = performance.now();
        await take(tx, claimer, 64);
        times.push(performance.now() - start);
        throw new Undone();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error;
      });
  }
  return times.toSorted((a, b) => a - b)[15] ?? Number.NaN;
};

class Undone extends Error {}
