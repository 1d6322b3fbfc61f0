import { expect, test } from 'vitest';
import { dedupKey } from '../src/queue/event.ts';
import { storeEvents } from '../src/queue/insert-events.ts';
import { startService } from './harness.ts';
import { receivedEventOf } from './received-event.ts';

test.each([
  ['of different entities', "'order:o-' || n"],
  ['of the same entity', "'order:1'"],
])('storing a repeat of the oldest of 5,000 events %s reads only a few of them', async (_, entityOf) => {
  await using service = await startService({ work: false });
  const { id: storeId } = await service.store();
  using stack = new DisposableStack();
  // One connection, whose counts are written on request, and the plan that a statement has after some executions.
  const sql = stack.adopt(await service.context.database.sql.reserve(), (reserved) => reserved.release());
  await sql`set plan_cache_mode = force_generic_plan`;
  const { event, service: provider, entity, body } = receivedEventOf();
  const receipt = receivedEventOf({ storeId, dedup: dedupKey({ event, service: provider, entity, body }) });
  await storeEvents(sql, [receipt]);
  await sql`
    insert into events (store_id, id, event, entity, dedup, body, headers, received_at)
    select ${storeId}, uuidv7(), 'order_updated', ${sql.unsafe(entityOf)}, uuid_send(gen_random_uuid()), '', '{}', now()
    from generate_series(1, 5000) as n`;
  await sql`analyze`;
  const rowsRead = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ count: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_user_tables where relname = 'events'`;
    return row?.count ?? Number.NaN;
  };
  const before = await rowsRead();
  const again = receivedEventOf({ ...receipt, id: 'ffffffff-ffff-7fff-8fff-ffffffffffff' });
  expect(await storeEvents(sql, [again])).toEqual(['duplicate']);
  expect((await rowsRead()) - before).toBeLessThan(20);
});
