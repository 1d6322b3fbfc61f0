import type { Sql } from 'postgres';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';
import { holdAt } from './hold.ts';

const waiting = 3000;

/** Queues events of a store, each of another order, as the replay of a time span leaves them. */
const replay = (sql: Sql, storeId: string) => sql`
  with replayed as (
    insert into events (store_id, id, event, entity, dedup, body, headers, received_at)
    select ${storeId}, uuidv7(), 'order_updated', 'order:' || n, decode(md5(n::text), 'hex'),
      convert_to('{"id":"' || n || '","status":"A","cart":{"items":[]}}', 'UTF8'), '{}', now()
    from generate_series(1, ${waiting}) as n returning store_id, entity, id)
  insert into queue (store_id, entity, id, queued_at, due_at, attempts)
  select store_id, entity, id, now(), now(), 0 from replayed`;

test('while a replay of one store keeps the worker busy, a new event of another store begins when it is stored', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const replayed = await service.store();
  const other = await service.store();
  await using point = await holdAt(service.databaseUrl, { trigger: 'before insert on orders for each row' });
  await replay(sql, replayed.id);
  await point.reached();
  const claimed = async (storeId: string): Promise<number> => {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int as count from queue where store_id = ${storeId} and worker is not null`;
    return row.count;
  };

  await expect.poll(() => claimed(replayed.id)).toBeGreaterThanOrEqual(512);
  await service.hook('order_updated', other.webhookToken, { id: 'o-1', status: 'A', cart: { items: [] } });
  expect(await claimed(other.id)).toBe(1);
  expect(await claimed(replayed.id)).toBeLessThan(waiting);
  await point.open();
  await service.settled();
  expect(await sql`select id from orders where store_id = ${other.id}`).toEqual([{ id: 'o-1' }]);
});

test('a replay of one store does not hold up events of another one that wait in the queue', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const [replayed, other] = [await service.store(), await service.store()];
  await using point = await holdAt(service.databaseUrl, { trigger: 'before insert on orders for each row' });
  await replay(sql, replayed.id);
  await point.reached();
  // The second one waits for the first one.
  for (const status of ['A', 'B'])
    await service.hook('order_updated', other.webhookToken, { id: 'o-1', status, cart: { items: [] } });
  await point.open();
  await service.settled();
  const [row] = await sql<[{ later: number }]>`
    select count(*)::int as later from results
    where store_id = ${replayed.id}
      and finished_at > (select max(finished_at) from results where store_id = ${other.id})`;
  expect(row.later).toBeGreaterThan(0);
  expect(await sql`select status from orders where store_id = ${other.id}`).toEqual([{ status: 'B' }]);
});
