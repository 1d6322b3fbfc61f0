import { hash } from 'node:crypto';
import { drizzle } from 'drizzle-orm/postgres-js';
import fc from 'fast-check';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { dedupKey, type ReceivedEvent } from '../src/inbox/event.ts';
import { storeEvents } from '../src/inbox/insert-events.ts';
import { startService } from './harness.ts';
import { receivedEventOf } from './received-event.ts';

test.each([
  ['of different entities', "'order:o-' || n"],
  ['of the same entity', "'order:1'"],
])('storing a repeat of the oldest of 5,000 events %s reads only a few of them', async (_, entityOf) => {
  await using service = await startService({ work: false });
  const { id: storeId } = await service.store();
  using stack = new DisposableStack();
  // One connection, so that its statistics can be flushed, and the plan that a statement has after some executions.
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

test('a repeated event reads no body of another event if its content cannot make it a new one', async () => {
  await using service = await startService({ work: false });
  const { id: storeId } = await service.store();
  using stack = new DisposableStack();
  const sql = stack.adopt(await service.context.database.sql.reserve(), (reserved) => reserved.release());
  const bytesRead = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ count: number }[]>`
      select (toast_blks_hit + toast_blks_read)::int as count from pg_statio_user_tables where relname = 'events'`;
    return row?.count ?? Number.NaN;
  };
  const large = Buffer.from(Array.from({ length: 20_000 }, (_, at) => hash('sha256', String(at))).join(''));
  for (const fields of [{ entity: null }, { byContent: false }]) {
    const eventOf = (body: Buffer) => {
      const { event, service: provider, entity } = receivedEventOf(fields);
      const dedup = dedupKey({ event, service: provider, entity, body });
      return receivedEventOf({ ...fields, storeId, id: service.context.nextId(Date.now()), body, dedup });
    };
    await storeEvents(sql, [eventOf(Buffer.from('{}'))]);
    await storeEvents(sql, [eventOf(large)]);
    const before = await bytesRead();
    expect(await storeEvents(sql, [eventOf(Buffer.from('{}'))])).toEqual(['duplicate']);
    expect((await bytesRead()) - before).toBe(0);
  }
});

const idAt = (place: number) => `01980000-0000-7000-8000-${String(place).padStart(12, '0')}`;

test('events of one batch are duplicates of each other as if each were stored alone', async () => {
  await using service = await startService({ work: false });
  const { sql } = service.context.database;
  const letter = fc.record({
    entity: fc.constantFrom('order:1', 'order:2'),
    text: fc.constantFrom('a', 'b', 'c'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(letter, { minLength: 2, maxLength: 12 }), fc.nat(12), async (sent, before) => {
      const eventsOf = (storeId: string) =>
        sent.map(({ entity, text }, place) => {
          const body = Buffer.from(text);
          const dedup = dedupKey({ event: 'order_updated', service: null, entity, body });
          return receivedEventOf({ storeId, id: idAt(place), entity, body, dedup });
        });
      const [alone, together] = [eventsOf((await service.store()).id), eventsOf((await service.store()).id)];
      const expected: string[] = [];
      for (const event of alone) expected.push(...(await storeEvents(sql, [event])));
      const first = await storeEvents(sql, together.slice(0, before));
      expect([...first, ...(await storeEvents(sql, together.slice(before)))]).toEqual(expected);
      // Stores them all again, as the replay of a spool does.
      expect(new Set(await storeEvents(sql, together))).toEqual(new Set(['duplicate']));
    }),
    { numRuns: 40 },
  );
});

test('a batch of repeats uses as many statements as one repeat', async () => {
  await using service = await startService({ work: false });
  const { id: storeId } = await service.store();
  let statements = 0;
  const sql = postgres(service.context.env.DATABASE_URL, { max: 1, debug: () => void statements++ });
  // As in the service: drizzle makes the driver send JSON text unchanged.
  drizzle(sql);
  const { event, entity, body } = receivedEventOf();
  const dedup = dedupKey({ event, service: null, entity, body });
  const batchOf = (size: number, from: number) =>
    Array.from({ length: size }, (_, place) => receivedEventOf({ storeId, id: idAt(from + place), dedup }));
  const countOf = async (events: readonly ReceivedEvent[]): Promise<number> => {
    const before = statements;
    await storeEvents(sql, events);
    return statements - before;
  };
  try {
    await storeEvents(sql, batchOf(1, 1));
    // The first run also reads types.
    await countOf(batchOf(1, 2));
    const statementsOfOne = await countOf(batchOf(1, 3));
    expect([statementsOfOne, await countOf(batchOf(60, 10))]).toEqual([2, 2]);
  } finally {
    await sql.end();
  }
});

test('an event is recognised as a duplicate although its entity contains array delimiters', async () => {
  await using service = await startService({ work: false });
  const { sql } = service.context.database;
  const { id: storeId } = await service.store();
  const events = [receivedEventOf({ storeId, entity: 'order:a,"b}\\' })];
  expect(await storeEvents(sql, events)).toEqual(['stored']);
  expect(await storeEvents(sql, events)).toEqual(['duplicate']);
});
