import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';

/** Fills the inbox with events of a store that were processed long ago, `days` ago. */
export const fillInbox = async (sql: Sql, storeId: string, rows: number, days = 1): Promise<void> => {
  await sql`
    insert into inbox (store_id, id, event, entity, dedup, body, headers, received_at, state, attempts, due_at, finished_at)
    select ${storeId}, uuidv7(make_interval(days => ${-days})), 'order_updated', 'order:old-' || n,
      decode(md5(n::text) || substr(md5(n || 'x'), 1, 16), 'hex'), convert_to(repeat('x', 1200), 'utf8'),
      '{"content-type": "application/json"}', now() - make_interval(days => ${days}), 'done', 1, now(), now()
    from generate_series(1, ${rows}::int) as n
    on conflict do nothing`;
  await sql`vacuum analyze inbox`;
};

/** Waits until nothing is left to be processed. */
export const untilProcessed = async (sql: Sql): Promise<void> => {
  for (;;) {
    const [row] = await sql<
      { any: boolean }[]
    >`select exists (select from inbox where state = 'pending') as any`;
    if (!row?.any) return;
    await sleep(25);
  }
};

/** Milliseconds that claiming 64 events takes, the median of some, each rolled back. */
export const claimTime = async (
  sql: Sql,
  claim: (sql: Sql, limit: number, leaseMs: number) => PromiseLike<unknown>,
) => {
  const times: number[] = [];
  for (let at = 0; at < 31; at++) {
    await sql
      .begin(async (tx) => {
        const start = performance.now();
        await claim(tx as unknown as Sql, 64, 60_000);
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
