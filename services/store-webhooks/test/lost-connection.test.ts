import { expect, test } from 'vitest';
import { startService } from './harness.ts';

const line = 'events were not processed or their results not written';

test('an event that ends its connection each time is tried alone with pauses and fails; the others of its batch are processed', async () => {
  await using receiver = await startService({ work: false });
  const { databaseUrl } = receiver;
  const { sql } = receiver.context.database;
  await sql.unsafe(`
    create function end_connection() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
    create trigger end_connection before insert on orders for each row when (new.id = 'bad')
      execute function end_connection()`);
  const { webhookToken } = await receiver.store();
  const ids = ['a', 'b', 'bad', 'c', 'd'];
  for (const id of ids) await receiver.hook('order_updated', webhookToken, { id, status: 'A' });
  const variables = { RETRY_BASE_MS: '10', RETRY_FOR_HOURS: '0.00001' };
  await using service = await startService({ databaseUrl, variables });
  const results = () => sql`
    select state, error, count(*)::int from results where state is not null group by 1, 2 order by 1`;
  await expect.poll(results).toEqual([
    { state: 'done', error: null, count: 4 },
    {
      state: 'failed',
      error: 'The connection to the database was lost while the event was processed.',
      count: 1,
    },
  ]);
  const [bad] = await sql<{ attempts: number }[]>`select attempts from results where state = 'failed'`;
  // The first connection ended with the five events, each later one with this event alone.
  expect(service.lines.filter((text) => text.includes(line))).toHaveLength(bad?.attempts ?? 0);
  expect(bad?.attempts).toBeGreaterThan(1);
});

test('an event whose connection was lost waits for a pause before it is tried again', async () => {
  await using service = await startService({ variables: { RETRY_BASE_MS: '60000' } });
  const { sql } = service.context.database;
  await sql.unsafe(`
    create function end_connection() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
    create trigger end_connection before insert on orders for each row execute function end_connection()`);
  const { webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, { id: 'bad', status: 'A' });
  const waiting = () => sql`
    select attempts, crashes, due_at > now() + interval '20 s' as paused from queue where worker is null`;
  await expect.poll(waiting).toEqual([{ attempts: 1, crashes: 3, paused: true }]);
});
