import { expect, test } from 'vitest';
import type { EventChange } from '../src/records/change.ts';
import { applyChanges } from '../src/processing/event-types.ts';
import { startService } from './harness.ts';

const rows = 3000;

test('an order or member with thousands of deliveries or notifications takes no longer than others, for which all stores would wait', async () => {
  await using service = await startService({ work: false });
  const { id: storeId } = await service.store();
  using stack = new DisposableStack();
  // One connection, so that its statistics can be flushed.
  const sql = stack.adopt(await service.context.database.sql.reserve(), (reserved) => reserved.release());
  await sql`
    insert into delivery_jobs (store_id, id, order_id, position, event_id, updated_at)
    select ${storeId}, 'j-' || n, 'o-1', 1, uuidv7(), now() from generate_series(1, ${rows}) n`;
  await sql`
    insert into notifications (store_id, id, key, kind, audience, change, subject, reference, consumer_id, mail, due_at, created_at)
    select ${storeId}::uuid, uuidv7(), 'job:j-' || n || ':1:customer', 'delivery', 'customer', 'assigned', '', 'j-' || n, null,
      'no_address', now(), now()
    from generate_series(1, ${rows}) n
    union all
    select ${storeId}::uuid, uuidv7(), 'order:o-2:' || n, 'order', 'customer', 'A', '', 'o-2', 'm-1', 'no_address', now(), now()
    from generate_series(1, ${rows}) n`;
  await sql`analyze notifications, delivery_jobs`;
  const counts = async () => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ read: number; changed: number }[]>`
      select sum(seq_tup_read + idx_tup_fetch)::int as read, sum(n_tup_upd)::int as changed from pg_stat_user_tables
      where relname in ('delivery_jobs', 'notifications')`;
    return row ?? { read: Number.NaN, changed: Number.NaN };
  };
  const apply = async (change: EventChange['change']) => {
    const before = await counts();
    const eventId = service.context.nextId(Date.now());
    await applyChanges(sql, [{ storeId, eventId, updatedAt: new Date().toISOString(), change }], () => true);
    const after = await counts();
    expect(after.read - before.read).toBeLessThan(1000);
    return after.changed - before.changed;
  };
  const details = { items: [] } as never;
  const order = { id: 'o-1', status: 'A', consumerId: 'm-2', version: null, details };
  expect(await apply({ kind: 'order', order })).toBe(20);
  const profile = { firstName: null, lastName: null, phone: null, status: null, type: null, version: null };
  const member = { id: 'm-1', email: 'ann@example.test', ...profile };
  expect(await apply({ kind: 'member', member, isNew: false, importsUnknown: false })).toBe(200);
});
